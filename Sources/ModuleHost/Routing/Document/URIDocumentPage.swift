/// The common parts of every page of the URI document.
enum URIDocumentPage {
    static let style = """
        :root {
          color-scheme: light dark;
          --page: #fafaf8; --card: #fff; --text: #1d1f24; --soft: #646974; --line: #e3e3df;
          --accent: #2455c8; --public: #166b3b; --public-back: #e0f3e6; --authorized: #855104;
          --authorized-back: #fbeed3; --local: #565b66; --local-back: #ececea;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #14161a; --card: #1b1e24; --text: #e5e7eb; --soft: #9aa1ad; --line: #2d323b;
            --accent: #8fb1ff; --public: #8bdca8; --public-back: #173524; --authorized: #f0c674;
            --authorized-back: #3a2c12; --local: #b3b9c4; --local-back: #2a2e36;
          }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body {
          margin: 0 auto; padding: 2.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 90rem;
          background: var(--page); color: var(--text);
          font: 15px/1.55 system-ui, sans-serif;
        }
        h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.01em; }
        header p { margin: 0.6rem 0; max-width: 46rem; color: var(--soft); }
        code, kbd { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
        code { font-size: 0.92em; overflow-wrap: break-word; }
        .route th code, .url { overflow-wrap: anywhere; }
        i { font-style: normal; color: var(--accent); }
        .filter {
          display: none; position: sticky; top: 0; z-index: 1; align-items: center; gap: 0.75rem;
          padding: 1rem 0 0.75rem; background: var(--page);
        }
        .js .filter { display: flex; }
        label { font-weight: 600; }
        input {
          flex: 1; min-width: 0; max-width: 34rem; padding: 0.5rem 0.8rem; font: inherit;
          color: inherit; background: var(--card); border: 1px solid var(--line);
          border-radius: 0.5rem;
        }
        input::placeholder { color: var(--soft); opacity: 1; }
        input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
        kbd {
          padding: 0.05rem 0.5rem; color: var(--soft); background: var(--card);
          border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 0.35rem;
        }
        output { margin-left: auto; color: var(--soft); white-space: nowrap; }
        table {
          width: 100%; border-spacing: 0; background: var(--card); border: 1px solid var(--line);
          border-radius: 0.75rem;
        }
        caption { position: absolute; clip-path: inset(50%); }
        th, td { padding: 0.75rem 0.9rem; text-align: left; vertical-align: top; font-weight: 400; }
        thead th { font-size: 0.8rem; font-weight: 600; color: var(--soft); }
        tbody tr > * { border-top: 1px solid var(--line); }
        .module th { padding: 1.2rem 0.9rem 0.6rem; font-size: 1.05rem; font-weight: 650; }
        .route th { width: 28%; } .route th code { font-weight: 600; }
        .route p { margin: 0.2rem 0 0; color: var(--soft); }
        .route td:last-child { width: 30%; }
        ul { margin: 0; padding: 0; list-style: none; }
        li + li { margin-top: 0.3rem; }
        li span { color: var(--soft); font-size: 0.92em; }
        .url { user-select: all; }
        b {
          padding: 0.1rem 0.55rem; border-radius: 1rem; font-size: 0.85em; font-weight: 600;
          white-space: nowrap;
        }
        .public { color: var(--public); background: var(--public-back); }
        .authorized { color: var(--authorized); background: var(--authorized-back); }
        .local { color: var(--local); background: var(--local-back); }
        #none { padding: 2rem 0; text-align: center; color: var(--soft); }
        @media (max-width: 60rem) {
          table, tbody, tr, th, td { display: block; width: auto !important; }
          thead { position: absolute; clip-path: inset(50%); }
          table { background: none; border: 0; }
          tbody tr > * { border: 0; }
          .module th { padding: 1.2rem 0 0.5rem; }
          .route {
            position: relative; margin-bottom: 0.75rem; padding: 0.9rem 1rem; background: var(--card);
            border: 1px solid var(--line); border-radius: 0.75rem;
          }
          .route > * { padding: 0; }
          .route td { margin-top: 0.7rem; }
          .route td:empty { display: none; }
          .route th { padding-right: 6.5rem; }
          .route td[data-label="Access"] { position: absolute; top: 0.9rem; right: 1rem; margin: 0; }
          .route td[data-label="Access"]::before { display: none; }
          .route td::before {
            content: attr(data-label); display: block; margin-bottom: 0.1rem; color: var(--soft);
            font-size: 0.8rem; font-weight: 600;
          }
          kbd { display: none; }
        }
        @media print {
          :root {
            --page: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --accent: #000;
          }
          .filter { display: none !important; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          tr { break-inside: avoid; } .module { break-after: avoid; }
          b { padding: 0; background: none !important; color: inherit !important; }
        }
        """

    static let script = """
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
          const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
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
        """
}
