"use strict";
(() => {
  const source = document.getElementById("details");
  const details = source ? JSON.parse(source.textContent) : [];
  const panel = document.getElementById("panel");
  const hint = panel ? panel.innerHTML : "";
  const panelHint = panel ? panel.textContent.trim() : "";
  let pinned = null;

  const make = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (className) node.className = className;
    return node;
  };
  const draw = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const show = (value) => (value === null || value === undefined ? "–" : Number(value).toLocaleString("en", { maximumFractionDigits: 6 }));

  // The interval that is left, with the published and, inside, the true value on the same line.
  const interval = (row) => {
    if (row.lower === null || row.lower === undefined) return null;
    const open = row.upper === null;
    const marks = [row.lower, row.upper, row.original, row.at].filter((v) => typeof v === "number");
    const low = Math.min(0, ...marks);
    const high = Math.max(low + 1, ...marks) * (open ? 1.6 : 1.08);
    const x = (value) => 6 + (288 * (value - low)) / (high - low);
    const svg = draw("svg", { viewBox: "0 0 300 46", role: "img", "aria-label": "what is left to guess: " + row.known });
    svg.append(draw("line", { x1: 6, x2: 294, y1: 22, y2: 22, stroke: "var(--line)" }));
    const left = x(row.lower), right = open ? 294 : x(row.upper);
    svg.append(draw("rect", { x: left - 2, y: 16, width: Math.max(right - left + 4, 5), height: 12, rx: 3, fill: "var(--k" + row.step + ")", stroke: "var(--soft)" }));
    const tick = (value, text, y, colour) => {
      if (typeof value !== "number") return;
      svg.append(draw("line", { x1: x(value), x2: x(value), y1: 11, y2: 33, stroke: colour, "stroke-width": 2 }));
      const anchor = x(value) < 60 ? "start" : x(value) > 240 ? "end" : "middle";
      const label = draw("text", { x: x(value), y, "text-anchor": anchor, "font-size": 11, fill: colour });
      label.textContent = text;
      svg.append(label);
    };
    tick(row.at, "published", 8, "var(--soft)");
    tick(row.original, "true", 44, "var(--warn)");
    return svg;
  };

  const fill = (row) => {
    panel.replaceChildren();
    panel.append(make("h3", row.name));
    const list = make("dl");
    const pair = (name, value) => { if (value !== undefined && value !== null && value !== "") list.append(make("dt", name), make("dd", value)); };
    pair("Published", row.published);
    pair("True value", row.original === undefined ? null : show(row.original));
    pair("A reader knows", row.known);
    pair("Values possible", row.values);
    pair("Left to guess", row.bits === undefined ? null : row.bits === null ? "no bound" : typeof row.bits === "string" ? row.bits : show(Math.round(row.bits * 100) / 100) + " bits");
    pair("Risk, DR", row.dr);
    pair("Must reach", row.reach);
    if (row.reason) list.append(make("dt", "Why it is sensitive", "wide"), make("dd", row.reason, "words"));
    const picture = interval(row);
    if (row.proof && row.proof.length) {
      list.append(make("dt", "How it follows", "wide"));
      const proof = make("dd", null, "proof");
      row.proof.forEach((line) => proof.append(make("span", line)));
      list.append(proof);
    }
    if (picture) panel.append(picture);
    panel.append(list);
    const close = make("button", "Close", "close");
    close.type = "button";
    close.addEventListener("click", () => unpin());
    panel.append(close);
    panel.classList.add("open");
  };
  const mark = (cell) => {
    document.querySelectorAll("td.chosen").forEach((old) => old.classList.remove("chosen"));
    if (cell) cell.classList.add("chosen");
  };
  const look = (cell) => {
    if (!panel || !cell || cell.dataset.d === undefined) return;
    mark(cell);
    fill(details[Number(cell.dataset.d)]);
  };
  const unpin = () => {
    pinned = null;
    mark(null);
    panel.classList.remove("open");
    panel.innerHTML = hint;
  };

  // The worst cell is shown before anybody asks, so the panel explains itself.
  const begin = () => {
    if (!panel || !wide() || !details.length) return;
    const worst = [...document.querySelectorAll(".page:not(.off) td[data-d]")].sort((a, b) => details[b.dataset.d].step - details[a.dataset.d].step || a.dataset.d - b.dataset.d)[0];
    if (!worst) return;
    fill(details[Number(worst.dataset.d)]);
    mark(worst);
    panel.append(make("p", panelHint, "hint below"));
  };
  const wide = () => window.matchMedia("(min-width: 60.01rem)").matches;
  document.querySelectorAll(".heat table").forEach((table) => {
    const first = table.querySelector("td[data-d]") || table.querySelector("td");
    if (first) first.tabIndex = 0;
    table.addEventListener("mouseover", (event) => { if (!pinned && wide()) look(event.target.closest("td[data-d]")); });
    table.addEventListener("focusin", (event) => { if (wide() && event.target.matches("td")) { pinned = null; look(event.target); } });
    table.addEventListener("click", (event) => {
      const cell = event.target.closest("td[data-d]");
      if (!cell) return;
      if (pinned === cell) { unpin(); return; }
      pinned = cell;
      look(cell);
    });
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td");
      if (!cell) return;
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (step) {
        const rows = [...table.tBodies[0].rows];
        const row = rows[rows.indexOf(cell.parentElement) + step[0]];
        const next = row && row.cells[cell.cellIndex + step[1]];
        if (next && next.tagName === "TD") {
          event.preventDefault();
          cell.tabIndex = -1;
          next.tabIndex = 0;
          next.focus();
        }
      } else if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        cell.click();
      } else if (event.key === "Escape") unpin();
    });
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && panel) unpin(); });

  document.querySelectorAll(".heat").forEach((heat) => {
    const choice = heat.querySelector("select");
    if (!choice) return;
    const pages = [...heat.querySelectorAll(".page")];
    const turn = (number) => {
      const at = (number + pages.length) % pages.length;
      choice.value = String(at);
      pages.forEach((page, k) => page.classList.toggle("off", k !== at));
      if (panel) unpin();
    };
    choice.addEventListener("change", () => turn(Number(choice.value)));
    heat.querySelector(".back").addEventListener("click", () => turn(Number(choice.value) - 1));
    heat.querySelector(".on").addEventListener("click", () => turn(Number(choice.value) + 1));
  });

  document.querySelectorAll(".unfold").forEach((button) => {
    button.addEventListener("click", () => {
      const open = button.parentElement.classList.toggle("unfolded");
      button.dataset.all = button.dataset.all || button.textContent;
      button.textContent = open ? "Show fewer" : button.dataset.all;
    });
  });

  document.querySelectorAll(".copy").forEach((button) => {
    const name = button.textContent;
    button.addEventListener("click", () => {
      const range = document.createRange();
      range.selectNodeContents(button.parentElement.querySelector(".text"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      // Where the browser does not let a page copy, the text is selected, which is what is said then.
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      setTimeout(() => { button.textContent = name; }, 2000);
    });
  });

  begin();

  const bubble = make("div", null, "bubble");
  document.querySelectorAll(".method").forEach((dot) => {
    const open = () => {
      bubble.replaceChildren(make("b", dot.dataset.title), make("span", "utility " + dot.dataset.utility + ", risk " + dot.dataset.risk + ". " + dot.dataset.note));
      document.body.append(bubble);
      const box = dot.getBoundingClientRect(), mine = bubble.getBoundingClientRect();
      const left = Math.min(Math.max(8, box.left + box.width / 2 - mine.width / 2), innerWidth - mine.width - 8);
      bubble.style.left = left + "px";
      bubble.style.top = (box.top - mine.height - 10 > 4 ? box.top - mine.height - 10 : box.bottom + 10) + "px";
    };
    const shut = () => bubble.remove();
    dot.addEventListener("mouseenter", open);
    dot.addEventListener("focus", open);
    dot.addEventListener("mouseleave", shut);
    dot.addEventListener("blur", shut);
  });
})();
