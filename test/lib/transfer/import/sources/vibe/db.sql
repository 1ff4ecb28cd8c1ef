-- As vibe-kanban's own migrations leave these tables, with what is needed here of their columns.
CREATE TABLE projects (
  id BLOB PRIMARY KEY, name TEXT NOT NULL, default_agent_working_dir TEXT DEFAULT '', remote_project_id BLOB,
  created_at TEXT NOT NULL DEFAULT (datetime('now', 'subsec')), updated_at TEXT NOT NULL DEFAULT (datetime('now', 'subsec')));
CREATE TABLE tasks (
  id BLOB PRIMARY KEY, project_id BLOB NOT NULL, title TEXT NOT NULL, description TEXT,
  status TEXT NOT NULL DEFAULT 'todo' CHECK (status IN ('todo','inprogress','done','cancelled','inreview')),
  created_at TEXT NOT NULL DEFAULT (datetime('now', 'subsec')), updated_at TEXT NOT NULL DEFAULT (datetime('now', 'subsec')),
  parent_workspace_id BLOB);
CREATE TABLE workspaces (id BLOB PRIMARY KEY, task_id BLOB, container_ref TEXT, branch TEXT NOT NULL);
INSERT INTO projects (id, name, created_at, updated_at) VALUES
  (x'10000000000040008000000000000001', 'Shop', '2026-02-01 08:00:00.000', '2026-02-01 08:00:00.000');
INSERT INTO workspaces (id, task_id, branch) VALUES
  (x'30000000000040008000000000000001', x'20000000000040008000000000000002', 'vk/sessions');
INSERT INTO tasks VALUES
  (x'20000000000040008000000000000001', x'10000000000040008000000000000001', 'Basket forgets', 'Reload the page: it is empty.',
   'inprogress', '2026-03-01 08:39:12.123', '2026-03-02 10:00:00.000', x'30000000000040008000000000000001'),
  (x'20000000000040008000000000000002', x'10000000000040008000000000000001', 'Sessions are stored', NULL,
   'done', '2026-02-01 08:00:00.000', '2026-02-03 08:00:00.000', NULL),
  (x'20000000000040008000000000000003', x'10000000000040008000000000000001', 'Store them twice', 'No.',
   'cancelled', '2026-02-02 08:00:00.000', '2026-02-02 09:00:00.000', NULL),
  (x'20000000000040008000000000000004', x'10000000000040008000000000000001', 'Look at it', '',
   'inreview', '2026-03-04 08:00:00.000', '2026-03-04 08:00:00.000', NULL);
