'use strict';
// Shows one puzzle after the other, takes replies, keeps them in the browser and hands them out.
(() => {
  const find = (id) => document.getElementById(id);
  const play = JSON.parse(find('play').dataset.play);
  const store = `sraven-play-${play.digest}`;
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
        type: 'number',
        inputMode: 'numeric',
        min: 0,
        max: K - 1,
        required: true,
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
    const verdicts = await Promise.all(
      replied().map(async (question) => [setOf(question), await isRight(question), question]));
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
    const guessed = asked.reduce((sum, { set: { M, K } }) => sum + K ** -M, 0);
    find('yardstick').textContent = known
      ? [`Guessing gets ${guessed.toFixed(1)} of all ${figure(total)} right on average; a perfect reasoner, ${figure(total)}.`,
        ...play.models.map(([name, solved]) => `The language model ${name}: ${figure(solved)}.`)].join(' ')
      : '';
    find('wrong').replaceChildren(...(known ? verdicts : []).filter(([, hit]) => !hit).map(([, , question]) => make('button', {
      type: 'button',
      textContent: `✗ Puzzle ${figure(question + 1)}`,
      onclick: () => leaveFor(question),
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

  function typed({ target }) {
    const { K } = setOf(current);
    tint(target.parentElement, target.validity.valid ? target.value : '', K);
    if (target.validity.valid && target.value.length === String(K - 1).length) {
      const all = cells();
      (all[all.indexOf(target) + 1] || find('reply')).focus({ preventScroll: true });
    }
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
  find('previous').addEventListener('click', () => leaveFor(current - 1));
  find('next').addEventListener('click', () => leaveFor(current + 1));
  find('skip').addEventListener('click', skip);
  find('number').addEventListener('change', ({ target }) => {
    leaveFor(Math.min(Math.max(Math.round(target.valueAsNumber) || 1, 1), total) - 1);
  });
  find('reset').addEventListener('click', reset);
  document.querySelectorAll('.download').forEach((button) => button.addEventListener('click', download));
  find('again').addEventListener('click', () => leaveFor(0));
  document.addEventListener('visibilitychange', () => (document.hidden ? pause() : tick()));
  document.querySelectorAll('.small .cell').forEach((cell) => tint(cell, Number(cell.textContent), 8));
  show(load());
  focus();
})();
