"use strict";
document.documentElement.classList.add("js");
const filter = document.getElementById("filter");
const groups = Array.from(document.querySelectorAll("tbody"), (body) => {
  const module = body.querySelector(".module").textContent;
  const rows = Array.from(body.querySelectorAll(".route"), (row) => {
    const cells = Array.from(row.cells, (cell) => cell.textContent);
    return { row, text: [module, ...cells].join(" ").toLowerCase() };
  });
  return { body, rows };
});
const all = groups.reduce((sum, group) => sum + group.rows.length, 0);

function apply() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { body, rows } of groups) {
    let visible = 0;
    for (const { row, text } of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) visible += 1;
    }
    body.hidden = visible === 0;
    count += visible;
  }
  const noun = all === 1 ? "route" : "routes";
  document.getElementById("count").value =
    words.length > 0 ? `${count} of ${all} ${noun}` : `${all} ${noun}`;
  document.getElementById("routes").hidden = count === 0;
  document.getElementById("none").hidden = count > 0;
}

function readAddress() {
  const found = /^#filter=(.*)$/.exec(location.hash);
  if (!found && location.hash !== "") return;
  try {
    filter.value = found ? decodeURIComponent(found[1]) : "";
  } catch {
    filter.value = "";
  }
  apply();
}

function changed() {
  apply();
  const page = location.href.split("#")[0];
  const words = filter.value.trim();
  history.replaceState(null, "", words ? `${page}#filter=${encodeURIComponent(words)}` : page);
}

filter.addEventListener("input", changed);
addEventListener("hashchange", readAddress);
addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== filter
      && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    filter.select();
  } else if (event.key === "Escape" && event.target === filter) {
    filter.value = "";
    changed();
  }
});
readAddress();