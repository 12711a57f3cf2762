'use strict';
// Polls /status.json and draws it. Whatever comes from there is put into the page as text, never as HTML.
(() => {
  const kPollMs = 2000;
  const kPoints = 120;     // of a line: four minutes
  const kFewPoints = 30;  // a line of fewer does not span its box
  const kSlots = 64;
  const kSpans = ['64 ms', '4.1 s', '4.4 min', '4.7 h', '12 d', '2.2 y', '139 y'];
  const kRanges = {
    under_1s: 'under 1 s', '1s_to_10s': '1 s to 10 s', '10s_to_1m': '10 s to 1 min', '1m_to_10m': '1 to 10 min',
    '10m_to_1h': '10 min to 1 h', '1h_to_6h': '1 h to 6 h', '6h_to_1d': '6 h to 1 d', '1d_to_7d': '1 d to 7 d',
    from_7d: '7 d and more', none: 'no time to live',
  };
  const kReasons = {
    expired: 'had expired', evicted: 'was evicted', deleted: 'was deleted', invalidated: 'was invalidated',
    cold: 'was not there',
  };
  const kLinks = {
    waiting: 'down, tries again soon', connecting: 'connecting', handshake: 'greeting the master',
    transfer: 'receiving all keys', loading: 'loading all keys', up: 'up',
  };
  const kReplicaStates = {wait_bgsave: 'waits', send_bulk: 'gets all keys', online: 'online'};
  const at = (id) => document.getElementById(id);
  const say = (id, text) => { at(id).textContent = text; };
  const ops = [];
  const ratios = [];
  let last = null;

  // ---- numbers for people
  const count = (n) => Math.round(n).toLocaleString('en');
  const short = (n) => {
    for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e4, 'k']])
      if (n >= size) return (n / (size === 1e4 ? 1e3 : size)).toFixed(1) + ' ' + unit;
    return n >= 100 || Number.isInteger(n) ? count(n) : n.toFixed(1);
  };
  const bytes = (n) => {
    for (const [size, unit] of [[2 ** 40, 'TB'], [2 ** 30, 'GB'], [2 ** 20, 'MB'], [2 ** 10, 'KB']])
      if (n >= size) return (n / size).toFixed(n / size < 10 ? 2 : 1) + ' ' + unit;
    return n + ' B';
  };
  const micros = (us) => (us < 1000 ? us + ' µs' : us < 1e6 ? (us / 1e3).toFixed(1) + ' ms' : (us / 1e6).toFixed(1) + ' s');
  const percent = (part, all) => (all === 0 ? '–' : (100 * part / all).toFixed(1) + ' %');
  const span = (ms) => {
    const s = Math.floor(ms / 1000);
    if (s < 120) return s + ' s';
    if (s < 7200) return Math.floor(s / 60) + ' min';
    if (s < 172800) return Math.floor(s / 3600) + ' h';
    return Math.floor(s / 86400) + ' d';
  };

  const address = (of) => (of.host.includes(':') ? `[${of.host}]` : of.host) + ':' + of.port;

  // ---- parts of the page
  const shape = (name, attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
    return element;
  };
  const row = (cells, name) => {
    const tr = document.createElement('tr');
    for (const text of cells) tr.insertCell().textContent = text;
    if (name) tr.className = name;
    return tr;
  };
  const meter = (part) => {
    const outer = document.createElement('div');
    outer.className = 'meter';
    const inner = document.createElement('i');
    inner.style.width = (100 * part).toFixed(1) + '%';
    outer.append(inner);
    return outer;
  };
  // A line of words and, below it, a bar over all columns.
  const barRows = (cells, part) => {
    const bar = document.createElement('tr');
    bar.className = 'bar';
    const cell = bar.insertCell();
    cell.colSpan = cells.length;
    cell.append(meter(part));
    return [row(cells), bar];
  };
  const showFacts = (id, facts) => at(id).replaceChildren(...facts.map(([name, value]) => {
    const div = document.createElement('div');
    const dt = document.createElement('dt');
    const dd = document.createElement('dd');
    dt.textContent = name;
    dd.textContent = value;
    div.append(dt, dd);
    return div;
  }));
  const keysTable = (id, rows, columns, none) => {
    const body = at(id);
    body.replaceChildren(...rows);
    if (rows.length !== 0) return;
    const cell = row([none]).firstChild;
    cell.colSpan = columns;
    cell.className = 'none';
    body.append(cell.parentNode);
  };
  const spark = (id, values, most) => {
    const top = Math.max(most, 1e-9);
    const step = 120 / (Math.max(values.length, kFewPoints) - 1);
    const line = values.map((v, i) => `${(i * step).toFixed(1)} ${(26 - 24 * v / top).toFixed(1)}`);
    at(id).replaceChildren(...(line.length > 1 ? [shape('path', {d: 'M' + line.join('L')})] : []));
  };

  const slots = [];
  const drawWheel = () => {
    const svg = at('wheel');
    const inner = 22, ring = 10;
    const point = (radius, turn) => {
      const angle = 2 * Math.PI * turn - Math.PI / 2;
      return `${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`;
    };
    kSpans.forEach((_, level) => {
      const low = inner + level * ring, high = low + ring - 1.6;
      const gap = 0.1 / low / Math.PI;
      slots.push(Array.from({length: kSlots}, (__, slot) => {
        const from = slot / kSlots + gap, to = (slot + 1) / kSlots - gap;
        const d = `M${point(low, from)}A${low} ${low} 0 0 1 ${point(low, to)}L${point(high, to)}` +
                  `A${high} ${high} 0 0 0 ${point(high, from)}Z`;
        const path = shape('path', {d});
        svg.append(path);
        return path;
      }));
    });
    svg.append(shape('line', {class: 'now', x1: 0, x2: 0, y1: -inner + 3, y2: -94}));
    const label = shape('text', {x: 0, y: 3});
    label.textContent = 'now';
    svg.append(label);
  };
  const showWheel = (levels) => {
    const rows = levels.map((digits, level) => {
      const occupied = BigInt('0x' + digits);
      let full = 0;
      slots[level].forEach((path, slot) => {
        const on = ((occupied >> BigInt(slot)) & 1n) === 1n;
        path.setAttribute('class', on ? 'full' : '');
        full += on ? 1 : 0;
      });
      return row(['the next ' + kSpans[level], full + ' of 64']);
    });
    at('rings').replaceChildren(...rows);
  };

  // ---- the whole
  const show = (now) => {
    const before = last !== null && now.uptime_ms >= last.uptime_ms ? last : null;
    const seconds = before ? Math.max((now.uptime_ms - before.uptime_ms) / 1000, 0.001) : 0;
    const rate = (name) => (before ? Math.max(now[name] - before[name], 0) / seconds : 0);
    last = now;
    say('about', `${now.version}, up ${span(now.uptime_ms)}`);
    const load = now.load, save = now.save;
    const loaded = percent(load.bytes, load.file_bytes);
    const down = now.stopping || load.clients_wait;
    say('state', now.stopping ? 'stopping' : load.running ? 'loading, ' + loaded : 'ready');
    at('state').className = 'pill ' + (down ? 'stopping' : 'ready');

    ops.push(now.ops_per_s);
    if (ops.length > kPoints) ops.shift();
    say('ops', short(Math.round(now.ops_per_s)));
    spark('ops-line', ops, Math.max(...ops));
    say('traffic', `in ${bytes(Math.round(now.in_bytes_per_s))}/s, out ${bytes(Math.round(now.out_bytes_per_s))}/s`);

    const hits = before ? now.hits - before.hits : now.hits;
    const reads = hits + (before ? now.misses - before.misses : now.misses);
    if (reads > 0) ratios.push(hits / reads);
    if (ratios.length > kPoints) ratios.shift();
    say('ratio', ratios.length ? (100 * ratios[ratios.length - 1]).toFixed(1) + ' %' : '–');
    spark('ratio-line', ratios, 1);
    say('ratio-all', `${percent(now.hits, now.hits + now.misses)} of ${short(now.hits + now.misses)} reads so far`);

    const memory = now.memory;
    say('memory', bytes(memory.used));
    at('memory-meter').firstElementChild.style.width =
        (memory.max ? Math.min(100 * memory.used / memory.max, 100) : 0).toFixed(1) + '%';
    say('memory-more', (memory.max ? `${percent(memory.used, memory.max)} of ${bytes(memory.max)}, ` : 'no limit, ') + memory.policy);

    say('lag', now.expired ? micros(now.lag_us.p99) : '–');
    say('lag-more', now.expired ? `p50 ${micros(now.lag_us.p50)}, p99.9 ${micros(now.lag_us.p999)}, longest ${micros(now.lag_us.max)}` : 'nothing has expired yet');
    say('backlog', `${count(now.backlog)} due and not freed yet`);

    showWheel(now.wheel);
    const ranges = now.ttl.ranges;
    const most = Math.max(1, ...ranges.map((r) => r.keys));
    at('ttl').replaceChildren(...ranges.flatMap((r) => barRows([kRanges[r.name] || r.name, short(r.keys), bytes(r.bytes)], r.keys / most)));
    say('ttl-age', !now.ttl.known ? 'Counting.' : now.ttl.age_ms < kPollMs ? 'Counted just now.' : `Counted ${span(now.ttl.age_ms)} ago.`);

    const reasons = Object.entries(now.misses_by_reason);
    at('misses').replaceChildren(...reasons.flatMap(([name, n]) =>
      barRows([kReasons[name] || name, short(n), percent(n, now.misses)], now.misses ? n / now.misses : 0)));

    const facts = [
      ['keys', short(now.keys)], ['with a time to live', short(now.expiring)],
      ['expired', short(now.expired)], ['expire a second', short(Math.round(rate('expired')))],
      ['evicted', short(now.evicted)], ['evicted a second', short(Math.round(rate('evicted')))],
      ['invalidated', short(now.invalidated)], ['clients', `${count(now.clients.connected)} of ${count(now.clients.max)}`],
      ['blocked', short(now.clients.blocked)], ['refused', short(now.clients.refused)],
      ['error replies', short(now.errors)], ['longest loop turn', micros(now.loop_turn_max_us)],
    ];
    showFacts('facts', facts);
    showFacts('save', [
      ...(save.running ? [['running', `${short(save.keys_done)} of ${short(save.keys_total)} keys`]] : []),
      ['when', save.saved ? span(save.age_s * 1000) + ' ago' : 'none since the start'],
      ['keys', short(save.keys)], ['file', bytes(save.bytes)], ['time', micros(save.took_ms * 1000)],
      ['changes since', short(save.changes)],
    ]);
    say('save-problem', save.problem ? 'The last save has failed: ' + save.problem : '');
    showFacts('load', [
      ...(load.running ? [['running', loaded]] : []),
      ['keys', short(load.keys)], ['file', bytes(load.bytes)], ['time', micros(load.took_ms * 1000)],
      ['expired', short(load.expired)], ['skipped', short(load.skipped)],
    ]);
    say('load-problem', load.problem ? 'It has ended early: ' + load.problem : '');
    const replication = now.replication, master = replication.master;
    const isReplica = replication.role === 'replica';
    showFacts('replication', [
      ['role', replication.role],
      ...(isReplica ? [
        ['master', address(master)], ['link', kLinks[master.link] || master.link],
        master.link === 'up' ? ['heard', span(master.heard_ms) + ' ago'] : ['down for', span(master.down_ms)],
      ] : []),
      ['replicas', count(replication.connected)],
    ]);
    say('replication-problem', master.failed ? `Commands of the master that failed here: ${count(master.failed)}` : '');
    keysTable('replicas', replication.replicas.map((r) =>
      row([kReplicaStates[r.state] || r.state, address(r), r.online ? r.lag_s + ' s' : '–'])), 3, 'No replica follows this server.');
    const unshown = replication.connected - replication.replicas.length;
    say('replicas-more', unshown > 0 ? `and ${count(unshown)} more` : '');
    keysTable('hot', now.hot.map((k) => row([k.db, k.key, short(Math.round(k.per_s * 10) / 10)])), 3, 'No key stands out.');
    keysTable('big', now.big.map((k) => row([k.db, k.key, k.type, bytes(k.bytes)])), 4, 'No value takes 16 KB or more.');
    at('live').hidden = false;
  };

  const poll = async () => {
    try {
      const answer = await fetch('/status.json', {cache: 'no-store'});
      if (!answer.ok) throw new Error(answer.status);
      show(await answer.json());
    } catch (problem) {
      say('state', 'no answer');
      at('state').className = 'pill lost';
    }
  };
  at('state').hidden = false;
  say('state', 'connecting');
  drawWheel();
  poll();
  setInterval(() => { if (!document.hidden) poll(); }, kPollMs);
})();
