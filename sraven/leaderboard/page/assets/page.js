'use strict';
// Sorting, filtering, opening what is linked, and rows that find their points; the page reads without any of it.
(() => {
  const all = (root, selector) => Array.from(root.querySelectorAll(selector));
  const rows = all(document, 'tr[data-entry]');
  const boards = all(document, '.board');
  const parts = new Map();  // the row, points and tips of each entry
  for (const part of all(document, '[data-entry]')) {
    const found = parts.get(part.dataset.entry) || [];
    parts.set(part.dataset.entry, found.concat(part));
  }

  // Sorting: within each training budget, since each is ranked apart. Missing values come last.
  function comparison(keys, sign) {
    const numeric = keys.every((key) => key === undefined || !Number.isNaN(Number(key)));
    return (one, other) => {
      if (one === undefined || other === undefined) {
        return (one === undefined) - (other === undefined);
      }
      return sign * (numeric ? one - other : one.localeCompare(other, 'en'));
    };
  }

  function sort(heading, direction) {
    const table = heading.closest('table');
    const headings = Array.from(table.tHead.rows[0].cells);
    const column = headings.indexOf(heading);
    headings.forEach((each) => each.removeAttribute('aria-sort'));
    heading.setAttribute('aria-sort', direction);
    const key = (row) => row.cells[column].dataset.sort;
    const entries = all(table, 'tr[data-entry]');
    const compare = comparison(entries.map(key), direction === 'ascending' ? 1 : -1);
    for (const body of table.tBodies) {
      const own = entries.filter((row) => row.parentElement === body);
      body.append(...own.sort((one, other) => compare(key(one), key(other))));
    }
  }

  // The address says which board is open, and its last order, as #board/column/direction.
  const headings = all(document, '.standing > thead th[data-first]');
  const turned = { ascending: 'descending', descending: 'ascending' };
  const boardOf = (element) => element.closest('.board').dataset.board;
  const say = (address) => history.replaceState(null, '', address ? `#${address}` : location.pathname + location.search);

  function sortOnClick(heading) {
    const direction = turned[heading.getAttribute('aria-sort')] || heading.dataset.first;
    sort(heading, direction);
    say(`${boardOf(heading)}/${heading.classList[0]}/${direction}`);
  }

  function open(element) {
    for (let each = element.closest('details'); each; each = each.parentElement.closest('details')) {
      each.open = true;
    }
  }

  function showLinked() {
    const linked = location.hash.slice(1);
    const [id, column, direction] = linked.split('/');
    const heading = headings.find((each) => boardOf(each) === id && each.classList.contains(column));
    const target = document.getElementById(linked);
    if (heading && Object.hasOwn(turned, direction)) {
      open(heading);
      sort(heading, direction);
      heading.closest('.scroll').scrollIntoView();
    } else if (target) {
      open(target);
      (target.matches('.contents') ? target.closest('.board') : target).scrollIntoView();
    }
  }

  for (const heading of headings) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    button.addEventListener('click', () => sortOnClick(heading));
    heading.append(button);
  }

  for (const summary of all(document, '.board > details > summary')) {
    summary.addEventListener('click', (event) => {
      if (!event.target.closest('a')) {
        say(summary.parentElement.open ? '' : boardOf(summary));
      }
    });
  }

  // Paper shows every board.
  let folded = [];
  window.addEventListener('beforeprint', () => {
    folded = all(document, '.board > details:not([open]), .about > details:not([open])');
    folded.forEach((each) => { each.open = true; });
  });
  window.addEventListener('afterprint', () => folded.forEach((each) => { each.open = false; }));

  // Filtering: what is hidden leaves the plots, too, and boards with something to show open.
  const text = document.getElementById('filter-text');
  const budget = document.getElementById('filter-budget');
  const status = document.getElementById('filter-status');
  const boxes = all(document, '.badge-filter');
  const left = (root, selector) => all(root, selector).filter((each) => !each.hasAttribute('hidden'));

  function filter() {
    const words = text.value.toLowerCase().split(/\s+/);
    const badges = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    for (const row of rows) {
      const shown = badges.has(row.dataset.badge) && words.every((word) => row.dataset.search.includes(word)) &&
        (!budget.value || budget.value === row.dataset.budget);
      parts.get(row.dataset.entry).forEach((part) => part.toggleAttribute('hidden', !shown));
    }
    const count = left(document, 'tr[data-entry]').length;
    for (const board of boards) {
      for (const body of all(board, '.standing > tbody')) {
        body.hidden = !left(body, 'tr[data-entry]').length;
      }
      const nobody = left(board, 'tr[data-entry]').length === 0;
      all(board, 'figure, .scroll, .notes').forEach((part) => { part.hidden = nobody; });
      all(board, '.scroll').forEach((part) => { part.previousElementSibling.hidden = !nobody; });
      all(board, '.plot').forEach((plot) => stopAt(left(plot, '.point')[0]));
      if (!nobody && count < rows.length) {
        open(board.querySelector('.contents'));
      }
    }
    status.textContent = count === rows.length ? `${count} entries` : `${count} of ${rows.length} entries`;
    document.getElementById('filter-reset').hidden = count === rows.length;
  }

  function reset() {
    text.value = '';
    budget.value = '';
    boxes.forEach((box) => { box.checked = true; });
    filter();
  }

  // Pointing: a row and its points light up together; arrow keys walk the points of a plot.
  function light(target) {
    const part = target instanceof Element && target.closest('[data-entry]');
    all(document, '.lit').forEach((each) => each.classList.remove('lit'));
    if (part) {
      parts.get(part.dataset.entry).forEach((each) => {
        // Its name stays away from the other plot while a point is pointed at: the eye is here.
        const elsewhere = part.matches('.point') && each.closest('.plot') && !part.closest('.plot').contains(each);
        each.classList.toggle('lit', !(elsewhere && each.matches('.tip')));
      });
    }
  }

  function stopAt(point) {
    if (point) {
      all(point.closest('.plot'), '.point').forEach((each) => each.setAttribute('tabindex', '-1'));
      point.setAttribute('tabindex', '0');
    }
  }

  function walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const point = event.target.closest('.point');
    if (step && point) {
      const points = left(point.closest('.plot'), '.point');
      const next = points[points.indexOf(point) + step];
      if (next) {
        stopAt(next);
        next.focus();
      }
      event.preventDefault();
    }
  }

  document.documentElement.classList.add('script');
  document.addEventListener('pointerover', (event) => light(event.target));
  document.addEventListener('focusin', (event) => light(event.target));
  document.addEventListener('keydown', walk);
  ['input', 'change'].forEach((kind) => document.querySelector('.filters').addEventListener(kind, filter));
  document.getElementById('filter-reset').addEventListener('click', reset);
  document.querySelector('.filters').hidden = rows.length === 0;
  window.addEventListener('hashchange', showLinked);
  filter();
  showLinked();
})();
