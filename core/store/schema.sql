-- The workspace of Ballast, schema number 1. This file is the one truth: the program runs it to make a new workspace.
-- Times ending in _ns are int64 nanoseconds on the run's clock; seconds are real numbers ending in _s; created_at is
-- seconds since 1970. Small integers for kinds, lanes, states and clocks are named by the tables that come first.

CREATE TABLE span_kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, communication INTEGER NOT NULL) STRICT;
INSERT INTO span_kinds VALUES
  (1, 'forward', 0), (2, 'backward', 0), (3, 'embedding', 0), (4, 'attention_forward', 0), (5, 'attention_backward', 0),
  (6, 'linear_forward', 0), (7, 'linear_backward', 0), (8, 'elementwise', 0), (9, 'loss', 0), (10, 'tp_collective', 1),
  (11, 'cp_gather', 1), (12, 'cp_scatter', 1), (13, 'pp_send', 1), (14, 'pp_receive', 1), (15, 'dp_reduce', 1),
  (16, 'optimizer', 0), (17, 'packing', 0), (18, 'checkpoint', 0);

CREATE TABLE lanes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO lanes VALUES (0, 'pipeline'), (1, 'compute'), (2, 'communication'), (3, 'host');

CREATE TABLE run_kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO run_kinds VALUES (1, 'simulated'), (2, 'measured'), (3, 'imported');

CREATE TABLE run_states (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO run_states VALUES (1, 'planned'), (2, 'queued'), (3, 'running'), (4, 'stopping'), (5, 'done'), (6, 'stopped'),
  (7, 'failed'), (8, 'lost');

CREATE TABLE clocks (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO clocks VALUES (0, 'simulated'), (1, 'wall'), (2, 'virtual');

CREATE TABLE step_kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO step_kinds VALUES (0, 'full'), (1, 'partial'), (2, 'drain');

-- Strings that many rows share: strategies, metrics.
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

-- A tree of what-ifs; a root has no parent.
CREATE TABLE scenarios (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  parent INTEGER REFERENCES scenarios (id),
  label TEXT NOT NULL,
  json TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- header: scenario, model, cluster and every chosen constant, JSON. content: hash of the sorted set of the pieces
-- (document, begin, end) that the plan trains, so that two plans over the same pieces are known at a glance.
CREATE TABLE plans (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at INTEGER NOT NULL,
  header TEXT NOT NULL,
  discards TEXT NOT NULL,
  cost_model_version INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  pieces INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  content TEXT NOT NULL
) STRICT;

-- body: the step as JSON, micro-batches with their pieces and shards. content: hash of the micro-batches.
CREATE TABLE plan_steps (
  plan INTEGER NOT NULL REFERENCES plans (id),
  step INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES step_kinds (id),
  tokens INTEGER NOT NULL,
  targets INTEGER NOT NULL,
  content TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (plan, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE micro_batches (
  plan INTEGER NOT NULL,
  step INTEGER NOT NULL,
  dp INTEGER NOT NULL,
  place INTEGER NOT NULL,  -- in the pipeline's order of its dp rank
  tokens INTEGER NOT NULL,
  pieces INTEGER NOT NULL,
  workload_s REAL NOT NULL,
  sharding INTEGER NOT NULL REFERENCES names (id),
  PRIMARY KEY (plan, step, dp, place),
  FOREIGN KEY (plan, step) REFERENCES plan_steps (plan, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL REFERENCES run_kinds (id),
  state INTEGER NOT NULL REFERENCES run_states (id),
  clock INTEGER NOT NULL REFERENCES clocks (id),
  tp INTEGER NOT NULL CHECK (tp > 0),
  cp INTEGER NOT NULL CHECK (cp > 0),
  dp INTEGER NOT NULL CHECK (dp > 0),
  pp INTEGER NOT NULL CHECK (pp > 0),
  name TEXT NOT NULL,
  scenario TEXT NOT NULL,  -- JSON
  tokens_are TEXT NOT NULL,  -- 'file', 'synthetic', or empty for a simulated run
  host TEXT NOT NULL,
  failure TEXT NOT NULL,  -- one sentence, empty unless failed
  prediction INTEGER REFERENCES runs (id),  -- the stored simulation of the same plan
  plan INTEGER REFERENCES plans (id),
  created_at INTEGER NOT NULL,
  planned_steps INTEGER NOT NULL,  -- 0 = unknown
  cost_model_version INTEGER NOT NULL
) STRICT;

CREATE TABLE ranks (
  run INTEGER NOT NULL REFERENCES runs (id),
  rank INTEGER NOT NULL,
  tp INTEGER NOT NULL,
  cp INTEGER NOT NULL,
  dp INTEGER NOT NULL,
  pp INTEGER NOT NULL,
  PRIMARY KEY (run, rank)
) STRICT, WITHOUT ROWID;

-- A row comes in the same transaction as the step's spans: readers poll this table by id.
CREATE TABLE steps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs (id),
  step INTEGER NOT NULL,
  complete INTEGER NOT NULL CHECK (complete IN (0, 1)),  -- 0: the run ended inside it
  begin_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  targets INTEGER NOT NULL,
  loss REAL,
  gradient_norm REAL,
  learning_rate REAL NOT NULL,
  imbalance_degree REAL NOT NULL,  -- of the step's packing, predicted
  UNIQUE (run, step)
) STRICT;
CREATE INDEX steps_by_run ON steps (run, id);

-- What each rank did in a step, summed. recorded 0: no spans kept. missing 1: the rank delivered nothing to a partial step.
CREATE TABLE rank_steps (
  run INTEGER NOT NULL,
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  recorded INTEGER NOT NULL,
  missing INTEGER NOT NULL,
  waiting_s REAL,
  pipeline_idle_s REAL,
  weights_bytes INTEGER,
  gradients_bytes INTEGER,
  optimizer_bytes INTEGER,
  activations_bytes INTEGER,
  key_values_bytes INTEGER,
  logits_bytes INTEGER,
  PRIMARY KEY (run, step, rank),
  FOREIGN KEY (run, rank) REFERENCES ranks (run, rank)
) STRICT, WITHOUT ROWID;

-- seconds: compute, or the transfer of a communication kind; waiting_s: blocked in it before its transfer starts.
CREATE TABLE rank_step_kinds (
  run INTEGER NOT NULL,
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES span_kinds (id),
  seconds REAL NOT NULL,
  waiting_s REAL NOT NULL,
  PRIMARY KEY (run, step, rank, kind),
  FOREIGN KEY (run, step, rank) REFERENCES rank_steps (run, step, rank)
) STRICT, WITHOUT ROWID;

-- Clustered so that a step, a rank or a lane is one range of the file. -1 = does not apply.
CREATE TABLE spans (
  run INTEGER NOT NULL,
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  lane INTEGER NOT NULL REFERENCES lanes (id),
  sequence INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES span_kinds (id),
  begin_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  waiting_until_ns INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  flops REAL NOT NULL,
  document INTEGER NOT NULL,
  micro_batch INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  blamed_rank INTEGER NOT NULL,
  modelled INTEGER NOT NULL,
  PRIMARY KEY (run, step, rank, lane, sequence),
  FOREIGN KEY (run, rank) REFERENCES ranks (run, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE metrics (
  run INTEGER NOT NULL REFERENCES runs (id),
  step INTEGER NOT NULL,
  name INTEGER NOT NULL REFERENCES names (id),
  value REAL,
  PRIMARY KEY (run, step, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE logs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs (id),
  time INTEGER NOT NULL,  -- seconds since 1970
  rank INTEGER NOT NULL,  -- -1 = the runner
  text TEXT NOT NULL
) STRICT;
CREATE INDEX logs_by_run ON logs (run, id);

CREATE TABLE bookmarks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs (id),
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- For people with a bare SQLite shell. Only complete steps count.
CREATE VIEW run_summary AS
SELECT r.id AS run, k.name AS kind, s.name AS state, c.name AS clock, r.name AS name,
       r.tp * r.cp * r.dp * r.pp AS world_size, count(t.id) AS steps, sum(t.tokens) AS tokens,
       sum(t.end_ns - t.begin_ns) / 1e9 AS seconds,
       sum(t.end_ns - t.begin_ns) / 1e9 / nullif(sum(t.tokens), 0) AS seconds_per_token,
       r.prediction AS prediction, datetime(r.created_at, 'unixepoch') AS created, r.failure AS failure
FROM runs r
JOIN run_kinds k ON k.id = r.kind
JOIN run_states s ON s.id = r.state
JOIN clocks c ON c.id = r.clock
LEFT JOIN steps t ON t.run = r.id AND t.complete = 1
GROUP BY r.id;

CREATE VIEW step_summary AS
SELECT t.run AS run, t.step AS step, iif(t.complete, 'complete', 'partial') AS state,
       (t.end_ns - t.begin_ns) / 1e9 AS seconds, t.tokens AS tokens, t.loss AS loss, t.gradient_norm AS gradient_norm,
       t.learning_rate AS learning_rate, t.imbalance_degree AS imbalance_degree
FROM steps t;

CREATE VIEW rank_summary AS
SELECT x.run AS run, x.rank AS rank, k.name AS kind, sum(x.seconds) AS seconds, sum(x.waiting_s) AS waiting_seconds
FROM rank_step_kinds x
JOIN steps t ON t.run = x.run AND t.step = x.step AND t.complete = 1
JOIN span_kinds k ON k.id = x.kind
GROUP BY x.run, x.rank, x.kind;

CREATE VIEW span_list AS
SELECT p.run AS run, p.step AS step, p.rank AS rank, l.name AS lane, p.sequence AS sequence, k.name AS kind,
       p.begin_ns / 1e9 AS begin_s, (p.end_ns - p.begin_ns) / 1e9 AS seconds,
       (p.waiting_until_ns - p.begin_ns) / 1e9 AS waiting_seconds, p.micro_batch AS micro_batch, p.layer AS layer,
       p.document AS document, p.tokens AS tokens, p.bytes AS bytes, p.blamed_rank AS blamed_rank
FROM spans p
JOIN lanes l ON l.id = p.lane
JOIN span_kinds k ON k.id = p.kind;
