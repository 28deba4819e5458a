'use strict';
// Sorting, filtering, and rows that find their points; the page reads without any of it.
(() => {
  const all = (root, selector) => Array.from(root.querySelectorAll(selector));
  const rows = all(document, 'tr[data-entry]');
  const parts = new Map();  // the row, points and labels of each entry
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

  // The address keeps the last order, as #board/column/direction: a link to it shows the board in that order.
  const headings = all(document, '.standing > thead th[data-first]');
  const turned = { ascending: 'descending', descending: 'ascending' };

  function sortOnClick(heading) {
    const direction = turned[heading.getAttribute('aria-sort')] || heading.dataset.first;
    sort(heading, direction);
    history.replaceState(null, '', `#${heading.closest('.board').id}/${heading.classList[0]}/${direction}`);
  }

  function sortAsLinked() {
    const [id, column, direction] = location.hash.slice(1).split('/');
    const heading = headings.find((each) => each.closest('.board').id === id && each.classList.contains(column));
    if (heading && Object.hasOwn(turned, direction)) {
      all(document.getElementById(id), ':scope > details').forEach((each) => { each.open = true; });
      sort(heading, direction);
      heading.closest('.scroll').scrollIntoView();
    }
  }

  for (const heading of headings) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    button.addEventListener('click', () => sortOnClick(heading));
    heading.append(button);
  }

  // Filtering: what is hidden leaves the plots, too.
  const text = document.getElementById('filter-text');
  const budget = document.getElementById('filter-budget');
  const status = document.getElementById('filter-status');
  const boxes = all(document, '.badge-filter');
  const visible = (root, selector) => all(root, selector).filter((each) => !each.hasAttribute('hidden'));

  function filter() {
    const words = text.value.toLowerCase().split(/\s+/);
    const badges = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    for (const row of rows) {
      const shown = badges.has(row.dataset.badge) && words.every((word) => row.dataset.search.includes(word)) &&
        (!budget.value || budget.value === row.dataset.budget);
      parts.get(row.dataset.entry).forEach((part) => part.toggleAttribute('hidden', !shown));
    }
    for (const board of all(document, '.board')) {
      for (const body of all(board, '.standing > tbody')) {
        body.hidden = !visible(body, 'tr[data-entry]').length;
      }
      const nobody = visible(board, 'tr[data-entry]').length === 0;
      all(board, 'figure, .scroll, .notes').forEach((part) => { part.hidden = nobody; });
      all(board, '.scroll').forEach((part) => { part.previousElementSibling.hidden = !nobody; });
      all(board, '.plot').forEach((plot) => stopAt(visible(plot, '.point')[0]));
    }
    const left = visible(document, 'tr[data-entry]').length;
    status.textContent = left === rows.length ? `${left} entries` : `${left} of ${rows.length} entries`;
    document.getElementById('filter-reset').hidden = left === rows.length;
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
      const points = visible(point.closest('.plot'), '.point');
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
  window.addEventListener('hashchange', sortAsLinked);
  filter();
  sortAsLinked();
})();
