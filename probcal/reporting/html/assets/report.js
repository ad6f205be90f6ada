"use strict";
// The page without its charts: colours, sorting, what is shown, copying, printing.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const say = (text) => { document.getElementById("said").textContent = text; };

  // --- light and dark -----------------------------------------------------------------------
  const theme = document.getElementById("theme"), root = document.documentElement;
  const kept = { get: () => { try { return localStorage.getItem("probcal-theme"); } catch { return null; } },
                 set: (value) => { try { localStorage.setItem("probcal-theme", value); } catch { /* a file may have none */ } } };
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { theme.textContent = dark() ? "Light colours" : "Dark colours"; };
  if (["light", "dark"].includes(kept.get())) root.dataset.theme = kept.get();
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; kept.set(root.dataset.theme); name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  theme.hidden = false;
  name();

  // --- sorting: a body of the table is a data set with the lines beneath it -------------------
  const order = { none: "ascending", ascending: "descending", descending: "none" };
  const value = (body, column) => {
    const cell = body.rows[0].cells[column], text = cell.dataset.v ?? cell.textContent.trim();
    return text === "" ? null : isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) => typeof a === typeof b
    ? (typeof a === "number" ? a - b : a.localeCompare(b)) || 0 : typeof a === "number" ? -1 : 1;
  for (const table of all("table.sortable")) {
    const first = [...table.tBodies], heads = [...table.tHead.rows[0].cells];
    if (first.length < 2) continue;
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = order[head.getAttribute("aria-sort")];
        heads.forEach((one) => one.setAttribute("aria-sort", one === head ? next : "none"));
        const sign = next === "descending" ? -1 : 1;
        const keyed = first.map((body) => [value(body, column), body]);
        if (next !== "none") keyed.sort(([a], [b]) => a === null || b === null
          ? (a === null) - (b === null) : sign * compare(a, b));
        table.append(...keyed.map(([, body]) => body));
        say(next === "none" ? "Original order" : `Sorted by ${button.textContent}, ${next}`);
      });
    });
  }

  // --- what stands beneath the means -----------------------------------------------------------
  for (const box of all("[data-hides]")) {
    const section = box.closest("section");
    box.closest("fieldset").hidden = false;
    box.addEventListener("change", () => section.classList.toggle(`no-${box.dataset.hides}`, !box.checked));
  }

  // --- which leaderboard is shown ----------------------------------------------------------------
  for (const section of all("[data-boards]")) {
    const filters = all("select", section), boards = all("[data-board]", section);
    const show = () => {
      const wanted = filters.map((one) => one.value).join("|");
      boards.forEach((one) => { one.hidden = one.dataset.board !== wanted; });
      section.querySelector("[data-none]").hidden = boards.some((one) => !one.hidden);
    };
    filters.forEach((one) => one.addEventListener("change", () => { show(); say(filters.map((each) => each.value).join(", ")); }));
    section.querySelector("fieldset").hidden = false;
    show();
  }

  // --- copying ---------------------------------------------------------------------------------
  for (const button of all("[data-copies]")) {
    const text = document.getElementById(button.dataset.copies);
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        say("Copied");
        button.textContent = "Copied";
      } catch {  // not allowed: it stands there selected
        getSelection().selectAllChildren(text);
        say("Selected: copy it with the keyboard");
      }
    });
  }

  // --- printing shows what is folded ------------------------------------------------------------
  let folded = [];
  addEventListener("beforeprint", () => { folded = all("article details:not([open])"); folded.forEach((one) => { one.open = true; }); });
  addEventListener("afterprint", () => folded.forEach((one) => { one.open = false; }));
})();
