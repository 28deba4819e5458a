'use strict';
// Shows one puzzle after the other, takes replies by keys or clicks, keeps them in the browser and hands them out.
(() => {
  const find = (id) => document.getElementById(id);
  const play = JSON.parse(find('play').dataset.play);
  const store = `sraven-play-${play.digest}`;
  const MOST_BUTTONS = 32;
  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const figure = (number) => number.toLocaleString('en');
  const say = (text) => { find('status').textContent = text; };

  function make(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // Questions are numbered from 0 on, through all sets. Those of a set stand in their order, if not together.
  for (const set of play.sets) {
    set.questions = [];
    set.bytes = atob(set.contexts);
    set.title = `${set.M > 1 ? `${set.M} numbers` : '1 number'}, 0 to ${set.K - 1}`;
  }
  const asked = Array.from(atob(play.order), (letter, question) => {
    const set = play.sets[letter.charCodeAt(0)];
    return { set, index: set.questions.push(question) - 1 };
  });
  const total = asked.length;
  const setOf = (question) => asked[question].set;
  const idOf = (question) => `${setOf(question).name}_${asked[question].index}`;

  function contextOf(question) {
    const { set: { M, bytes }, index } = asked[question];
    const symbol = (at) => bytes.charCodeAt(index * 8 * M + at);
    return Array.from({ length: 8 }, (_, panel) => Array.from({ length: M }, (_, at) => symbol(panel * M + at)));
  }

  function solutionOf(question) {
    const { set, index } = asked[question];
    return play.practice && panelOf(question) ? set.solutions[index] : null;
  }

  // What was done, by question: the panel replied, or null, and the seconds that it took.
  const work = new Map();
  let current = 0;
  const panelOf = (question) => work.get(question)?.panel;
  const replied = () => Array.from(work.keys()).filter(panelOf);

  /** Takes what comes from elsewhere, if it is a reply; returns whether it is. */
  function take(question, panel, seconds) {
    if (!asked[question] || !Number.isFinite(seconds)) {
      return false;
    }
    const { M, K } = setOf(question);
    const fits = panel === null || (Array.isArray(panel) && panel.length === M &&
      panel.every((number) => Number.isInteger(number) && number >= 0 && number < K));
    if (fits) {
      work.set(question, { panel, seconds });
    }
    return fits;
  }

  const FORGETFUL = 'This browser keeps nothing: use “Download replies” before you close the page.';

  function load() {
    try {
      const kept = JSON.parse(localStorage.getItem(store)) || { work: [], current: 0 };
      kept.work.forEach((each) => take(...each));
      return asked[kept.current] ? kept.current : 0;
    } catch {
      say(FORGETFUL);
      return 0;
    }
  }

  function save() {
    const done = Array.from(work, ([question, { panel, seconds }]) => [question, panel, seconds]);
    try {
      localStorage.setItem(store, JSON.stringify({ current, work: done }));
    } catch {
      say(FORGETFUL);
    }
  }

  // Time runs while a puzzle is seen. It counts up to the reply; looking at a reply again costs nothing.
  let spent = 0;
  let since = null;

  function tick() {
    const now = performance.now();
    spent += since === null ? 0 : (now - since) / 1000;
    since = document.hidden ? null : now;
  }

  function keep(panel) {
    tick();
    const seconds = Math.round(10 * ((work.get(current)?.seconds || 0) + spent)) / 10;
    work.set(current, { panel, seconds });
    spent = 0;
    save();
  }

  function pause() {
    if (panelOf(current)) {
      save();
    } else {
      keep(null);
    }
  }

  // The matrix: numbers are what counts, and the tint of a cell repeats its number.
  const cells = () => Array.from(find('matrix').querySelectorAll('input'));

  function tint(cell, number, K) {
    cell.classList.toggle('tinted', number !== '');
    cell.style.setProperty('--shade', number / (K - 1));
  }

  /** Returns a letter for each place of a column: which feature stands there, once it may be known. */
  function lettersOf(solution, column) {
    const letters = [];
    solution?.features.forEach(({ places }, feature) => { letters[places[column]] = LETTERS[feature]; });
    return letters;
  }

  function cellOf(content, number, letter, K) {
    const cell = make('span', { className: 'cell' }, content);
    tint(cell, number, K);
    if (letter) {
      cell.append(make('span', { className: 'letter', textContent: letter, ariaHidden: 'true' }));
    }
    return cell;
  }

  function drawPanel(panel, at, solution, K) {
    const letters = lettersOf(solution, at % 3);
    const drawn = panel.map((number, place) => cellOf(String(number), number, letters[place], K));
    const told = panel.map((number, place) => (letters[place] ? `${number} ${letters[place]}` : number)).join(' ');
    const ariaLabel = `Row ${Math.floor(at / 3) + 1}, column ${at % 3 + 1}: ${told}`;
    return make('div', { className: 'panel', role: 'img', ariaLabel }, ...drawn);
  }

  function drawAsked(panel, solution, { M, K }) {
    const letters = lettersOf(solution, 2);
    const isWrong = solution && !solution.answers.some((answer) => String(answer) === String(panel));
    const drawn = Array.from({ length: M }, (_, place) => {
      const number = panel ? panel[place] : '';
      const input = make('input', {
        inputMode: K > MOST_BUTTONS ? 'numeric' : 'none',
        maxLength: String(K - 1).length,
        ariaLabel: `Number ${place + 1} of ${M} of the missing panel, from 0 to ${K - 1}`,
        readOnly: Boolean(solution),
        value: number,
      });
      const cell = cellOf(input, number, letters[place], K);
      cell.classList.toggle('wrong', Boolean(isWrong && number !== solution.target[place]));
      return cell;
    });
    return make('div', { className: 'panel asked', role: 'group', ariaLabel: 'Row 3, column 3: the missing panel' }, ...drawn);
  }

  function drawPad({ K }, solution) {
    const has = K <= MOST_BUTTONS && !solution;
    // The keyboard writes numbers itself, so these are no stops of Tab.
    find('pad').replaceChildren(...Array.from({ length: has ? K : 0 }, (_, number) => {
      const button = make('button', { type: 'button', tabIndex: -1, className: 'cell', textContent: number });
      tint(button, number, K);
      return button;
    }));
  }

  function drawSolution(question, solution) {
    find('solution').hidden = !solution;
    if (!solution) {
      return;
    }
    const { target, answers, features } = solution;
    const given = String(panelOf(question));
    const right = given === String(target);
    const fits = answers.some((answer) => String(answer) === given);
    const verdict = right ? 'Right.' : fits
      ? `Right: your panel fits. The puzzle was made with another one, ${target.join(' ')}.`
      : `Not quite. The answer is ${target.join(' ')}.`;
    say(verdict);
    const rows = features.map(({ rule, rows }, feature) => make('tr', {},
      make('th', { scope: 'row', textContent: LETTERS[feature] }),
      make('td', { textContent: rule }),
      ...rows.map((symbols) => make('td', { textContent: symbols.join(' ') }))));
    const heads = ['', 'rule', 'row 1', 'row 2', 'row 3'].map((textContent) => make('th', { textContent }));
    const others = answers.map((answer) => make('li', {
      textContent: answer.join(' ') + (String(answer) === String(target) ? ', with which the puzzle was made' : ''),
    }));
    find('solution').replaceChildren(
      make('table', {}, make('thead', {}, make('tr', {}, ...heads)), make('tbody', {}, ...rows)),
      make('p', { textContent: answers.length > 1 ? `${figure(answers.length)} panels fit:` : 'No other panel fits.' }),
      ...(answers.length > 1 ? [make('ul', {}, ...others)] : []));
  }

  function drawProgress() {
    find('done').value = replied().length;
    find('count').textContent = `${figure(replied().length)} of ${figure(total)}`;
    find('levels').replaceChildren(...play.sets.map((set) => {
      const done = replied().filter((question) => setOf(question) === set);
      const isRight = (question) => solutionOf(question).answers.some((each) => String(each) === String(panelOf(question)));
      const right = play.practice ? `, ${done.filter(isRight).length} right` : '';
      const button = make('button', { type: 'button', textContent: set.title, ariaCurrent: String(set === setOf(current)) });
      button.addEventListener('click', () => leaveFor(nextOpen(-1, set.questions) ?? set.questions[0]));
      const bar = make('progress', { max: set.questions.length, value: done.length, ariaLabel: set.title });
      const told = make('span', { textContent: `${figure(done.length)} of ${figure(set.questions.length)}${right}` });
      return make('li', {}, button, make('div', { className: 'level' }, bar, told));
    }));
    if (find('handed')?.open) {
      find('lines').value = lines();
    }
  }

  function explain({ M, K, mixed, rules }) {
    const several = M > 1;
    find('many').textContent = several ? `${M} numbers` : 'one number';
    if (!find('rules')) {
      return;
    }
    find('rules').hidden = !rules.length;
    find('rule-of').textContent = several
      ? 'Each number follows a rule from panel to panel, and it is the same rule in all three rows. These are the ' +
        'rules; several numbers may have the same one:'
      : 'In each row the number follows a rule from panel to panel, and it is the same rule in all three rows. ' +
        'These are the rules:';
    find('listed').replaceChildren(...rules.map(({ words, rows }) => make('tr', {},
      make('td', { textContent: words }), make('td', { textContent: rows }))));
    find('round').textContent = `Numbers go round like the hours of a clock: after ${K - 1} comes 0, and before 0 comes ${K - 1}.`;
    find('mixed').textContent = mixed
      ? 'The numbers of a panel may stand in another order in each column. In the three panels of one column the ' +
        'order is the same. So first find out which number belongs to which.'
      : 'A number has the same place in all panels.';
    find('mixed').hidden = !several;
    find('example').hidden = K !== 8 || !mixed;
  }

  function show(question) {
    [current, spent, since] = [question, 0, null];
    tick();
    const set = setOf(question);
    const solution = solutionOf(question);
    const panels = contextOf(question).map((panel, at) => drawPanel(panel, at, solution, set.K));
    const across = set.M <= 4 ? set.M : Math.min(4, Math.ceil(set.M / 2));
    find('matrix').style.setProperty('--across', across);
    find('matrix').classList.toggle('long', set.K > 100);
    find('end').hidden = true;
    find('puzzle').hidden = false;
    find('matrix').replaceChildren(...panels, drawAsked(panelOf(question), solution, set));
    find('which').textContent = `Puzzle ${figure(question + 1)}: ${set.title}`;
    find('number').value = question + 1;
    find('reply').textContent = solution ? 'Go on' : 'Reply';
    find('skip').hidden = Boolean(solution);
    explain(set);
    drawPad(set, solution);
    drawSolution(question, solution);
    drawProgress();
  }

  // From puzzle to puzzle
  function focus() {
    const open = cells().find((cell) => cell.value === '') || cells()[0];
    open.focus({ preventScroll: true });
  }

  /** Brings a part of the page into view, unless its beginning is. */
  function bringUp(part) {
    const { top } = part.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 3) {
      part.scrollIntoView({ behavior: 'instant' });
    }
  }

  function leaveFor(question) {
    pause();
    say('');
    show((question + total) % total);
    save();
    bringUp(find('puzzle'));
    focus();
  }

  /** Returns the first question behind one that has no reply or, where there is none, the first of all. */
  function nextOpen(behind, questions = asked.keys()) {
    const open = Array.from(questions).filter((question) => !panelOf(question));
    return open.find((question) => question > behind) ?? open[0];
  }

  function skip() {
    const next = nextOpen(current);
    if (next === undefined) {
      end();
    } else {
      leaveFor(next);
    }
  }

  // The end: what came of it, as far as it may be told
  const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

  /** Returns whether the reply to a question is right; null where the page doesn't know. */
  async function isRight(question) {
    const { set, index } = asked[question];
    if (play.practice) {
      return set.solutions[index].answers.some((each) => String(each) === String(panelOf(question)));
    }
    if (!set.digests || !globalThis.crypto?.subtle) {
      return null;
    }
    const told = `${idOf(question)} Answer: [${panelOf(question).join(' ')}]`;
    return hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(told))) === set.digests[index];
  }

  async function end() {
    pause();
    const verdicts = await Promise.all(replied().map(async (question) => [setOf(question), await isRight(question)]));
    const known = verdicts.length && verdicts.every(([, right]) => right !== null);
    const right = (wanted) => verdicts.filter(([set, hit]) => hit && (!wanted || set === wanted)).length;
    const seconds = replied().reduce((sum, question) => sum + work.get(question).seconds, 0);
    const minutes = seconds < 60 ? `${Math.round(seconds)} seconds` : `${Math.round(seconds / 60)} minutes`;
    find('result').textContent = known
      ? `${figure(right())} of ${figure(replied().length)} puzzles are right, in ${minutes}.`
      : `You solved ${figure(replied().length)} puzzles in ${minutes}.`;
    find('results').replaceChildren(...(known ? play.sets : []).map((set) => make('li', {
      textContent: `${set.title}: ${figure(right(set))} of ${figure(verdicts.filter(([each]) => each === set).length)}`,
    })));
    say('');
    find('puzzle').hidden = true;
    find('end').hidden = false;
    bringUp(find('end'));
    (find('end').querySelector('.download') || find('again')).focus({ preventScroll: true });
  }

  function reply(event) {
    event.preventDefault();
    if (solutionOf(current)) {
      skip();
      return;
    }
    const missing = cells().findIndex((cell) => cell.value === '');
    if (missing >= 0) {
      cells()[missing].focus();
      say(`Number ${missing + 1} is missing.`);
      return;
    }
    keep(cells().map((cell) => Number(cell.value)));
    if (play.practice) {
      show(current);
      focus();
    } else {
      const told = `Puzzle ${figure(current + 1)}: ${panelOf(current).join(' ')} is kept.`;
      skip();
      say(told);
    }
  }

  // Writing numbers into the missing panel
  function fill(cell, number) {
    cell.value = number;
    tint(cell.parentElement, number, setOf(current).K);
  }

  function move(cell, step) {
    const all = cells();
    const next = all[all.indexOf(cell) + step] || cell;
    next.focus();
    next.select();
  }

  function write(cell, number) {
    fill(cell, number);
    // Go on unless another digit may follow.
    if (number === 0 || number * 10 >= setOf(current).K) {
      move(cell, 1);
    }
  }

  function typed(event) {
    const cell = event.target;
    const { K } = setOf(current);
    const digits = cell.value.replace(/[^0-9]/g, '');
    const last = Number(digits.slice(-1));
    if (digits === '' || last >= K) {
      say(digits === '' ? (cell.value && 'Only digits, please.') : `${last} isn’t used here: numbers go from 0 to ${K - 1}.`);
      fill(cell, '');
    } else {
      say(Number(digits) < K ? '' : `${digits} isn’t used here: numbers go from 0 to ${K - 1}. Now it is ${last}.`);
      write(cell, Number(digits) < K ? Number(digits) : last);
    }
  }

  let latest = null;  // the cell into which buttons write

  function clicked(event) {
    const button = event.target.closest('button');
    if (button) {
      const cell = cells().includes(latest) ? latest : cells()[0];
      fill(cell, Number(button.textContent));
      move(cell, 1);
    }
  }

  function count(cell, step) {
    const { K } = setOf(current);
    fill(cell, cell.value === '' ? (step > 0 ? 0 : K - 1) : (Number(cell.value) + step + K) % K);
    cell.select();
  }

  const GOING = { n: () => leaveFor(current + 1), p: () => leaveFor(current - 1), s: skip };
  const MOVES = { ArrowLeft: -1, ArrowRight: 1, ' ': 1 };
  const COUNTS = { ArrowUp: 1, ArrowDown: -1 };

  function pressed(event) {
    const { target, key } = event;
    const cell = target.closest('#matrix input');
    if (event.ctrlKey || event.altKey || event.metaKey || target.matches('textarea')) {
      return;
    }
    if (target.id === 'number') {
      if (key !== 'Enter') {
        return;
      }
      focus();  // a number that changed is gone to as it loses the focus
    } else if (Object.hasOwn(GOING, key.toLowerCase())) {
      GOING[key.toLowerCase()]();
    } else if (cell && MOVES[key]) {
      move(cell, MOVES[key]);
    } else if (cell && COUNTS[key] && !cell.readOnly) {
      count(cell, COUNTS[key]);
    } else if (cell && key === 'Backspace' && cell.value === '') {
      move(cell, -1);
    } else {
      if (target === document.body && /^[0-9]$/.test(key)) {
        focus();  // and the digit goes there
      }
      return;
    }
    event.preventDefault();
  }

  // Replies as lines of JSON
  const lines = () => replied().sort((one, other) => one - other).map((question) => {
    const { panel, seconds } = work.get(question);
    return `${JSON.stringify({ id: idOf(question), completion: `Answer: [${panel.join(' ')}]`, seconds })}\n`;
  }).join('');

  function download() {
    const href = URL.createObjectURL(new Blob([lines()], { type: 'application/jsonl' }));
    make('a', { href, download: `replies-${play.title}.jsonl` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }

  function readLine(line) {
    try {
      const { id, completion, seconds = 0 } = JSON.parse(line);
      const [, name, index] = /^(.*)_([0-9]+)$/.exec(id);
      const question = play.sets.find((set) => set.name === name).questions[Number(index)];
      const panel = /^Answer: \[([0-9 ]+)\]$/.exec(completion)[1].split(' ').map(Number);
      return idOf(question) === id && take(question, panel, seconds);
    } catch {
      return false;
    }
  }

  async function bring(event) {
    const text = await event.target.files[0].text();
    const taken = text.split('\n').filter((line) => line.trim()).map(readLine);
    const good = taken.filter(Boolean).length;
    event.target.value = '';
    show(current);
    save();
    const bad = taken.length - good;
    say(`${figure(good)} replies taken.${bad ? ` ${figure(bad)} lines are no replies to these puzzles.` : ''}`);
  }

  function reset() {
    if (confirm(`Delete all ${figure(replied().length)} replies that this browser keeps, and start anew?`)) {
      work.clear();
      show(0);
      save();
      say('');
    }
  }

  find('answer').addEventListener('submit', reply);
  find('matrix').addEventListener('input', typed);
  find('matrix').addEventListener('focusin', ({ target }) => {
    if (target.matches('input')) {
      latest = target;
      target.select();
    }
  });
  find('pad').addEventListener('pointerdown', (event) => event.preventDefault());  // the focus stays
  find('pad').addEventListener('click', clicked);
  find('previous').addEventListener('click', GOING.p);
  find('next').addEventListener('click', GOING.n);
  find('skip').addEventListener('click', skip);
  find('number').addEventListener('change', ({ target }) => {
    leaveFor(Math.min(Math.max(Math.round(target.valueAsNumber) || 1, 1), total) - 1);
  });
  find('reset').addEventListener('click', reset);
  find('handed')?.addEventListener('toggle', drawProgress);
  find('lines')?.addEventListener('focus', ({ target }) => target.select());
  document.querySelectorAll('.download').forEach((button) => button.addEventListener('click', download));
  find('again').addEventListener('click', () => leaveFor(0));
  find('import')?.addEventListener('change', bring);
  document.addEventListener('keydown', pressed);
  document.addEventListener('visibilitychange', () => (document.hidden ? pause() : tick()));
  window.addEventListener('storage', ({ key }) => {
    if (key === store) {  // another window of this page
      load();
      drawProgress();
    }
  });
  document.querySelectorAll('.small .cell').forEach((cell) => tint(cell, Number(cell.textContent), 8));
  show(load());
  focus();
})();
