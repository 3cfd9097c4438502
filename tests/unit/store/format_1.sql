BEGIN TRANSACTION;
CREATE TABLE blobs(hash TEXT PRIMARY KEY, body BLOB NOT NULL);
INSERT INTO "blobs" VALUES('cee0f5832105453c1033a953af3af6ea2eeacf092c90e90323bc38a57701f0fb','op_name: add
');
INSERT INTO "blobs" VALUES('faf56f435b1091ad3dc6de4c0767fdb0dbe7096f3510396de164819a24fcb50e','// kernel of step 0
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx');
INSERT INTO "blobs" VALUES('f6fc39a540820dc8ce3dfda7c8cb5181bd0e7a6303090dfd5cc9ee84e67bbb44','{"profile": 0}');
INSERT INTO "blobs" VALUES('e5ba6d6da97ebd7404ca1c824e46fdd9fd0e9ee77edce1fd2404047f99185643','// kernel of step 1
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx');
INSERT INTO "blobs" VALUES('58a44815cb940646a4f4dd8f9d79420a9ddc89b2cc4b3b7c631eb2389244b61f','{"profile": 1}');
INSERT INTO "blobs" VALUES('189e66aaf9320ce2c4c06ec4d5f805ed29f60e62d07dcddcc5c0c1b8b606aab0','// kernel of step 2
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx');
INSERT INTO "blobs" VALUES('14ca670d4264a95b4808575eb0f225c3318efa882c23994959ec0c88eb6077f5','{"profile": 2}');
CREATE TABLE events(number INTEGER PRIMARY KEY, at INTEGER NOT NULL, seconds REAL, kind TEXT NOT NULL,
                    step INTEGER NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL);
INSERT INTO "events" VALUES(1,1794981437236,NULL,'run_started',0,'{"run":"add","task_file":"task.yaml","task":"cee0f5832105453c1033a953af3af6ea2eeacf092c90e90323bc38a57701f0fb","task_name":"","operation":"","gpu":"A100","method":"","program":"","context":"","settings":{"proposers":["playbook"],"search":"evolve","seed":0,"inputs":0,"ahead":3,"islands":1,"migration":10,"budget":{"rounds":null,"evaluations":null,"seconds":null,"tokens":null,"dollars":null},"roofline":0.95,"plateau":16,"first_tuning":10,"guard":0.05,"least_gain":0.01,"restart_after":60,"restart_after_tokens":100000,"poor_speedup":1.1,"llm":{"models":[],"plan":true,"insights":true,"lineage":true,"repairs":3,"edits":"auto","prompts":"","replay":"","concurrency":4,"idle_seconds":120.0,"total_seconds":900.0,"patience_seconds":300.0},"command":"","command_seconds":600.0,"target_ns":null}}',41536324);
INSERT INTO "events" VALUES(2,1794981437243,NULL,'directive',0,'{"step":0,"mode":"baseline","proposer":"","direction":"","rule":"","gate":"bandit","reason":"the reason of step 0","reasons":[],"evaluations":0,"island":0,"frontier":0,"profile":"","parent":null,"mate":null,"incumbent":null,"incumbent_ns":null}',3053762268);
INSERT INTO "events" VALUES(3,1794981437243,NULL,'candidate',0,'{"step":0,"source":"faf56f435b1091ad3dc6de4c0767fdb0dbe7096f3510396de164819a24fcb50e","parents":[],"proposer":"playbook","title":"title 0","genes":[],"tokens":0,"dollars":null}',1425145332);
INSERT INTO "events" VALUES(4,1794981437243,0.5,'evaluation',0,'{"step":0,"candidate":0,"outcome":"baseline","summary":"","identity":"identity 0","shapes":[],"parameters":{},"bottlenecks":[],"profile":"f6fc39a540820dc8ce3dfda7c8cb5181bd0e7a6303090dfd5cc9ee84e67bbb44","evaluations":1,"tunable":false,"exhausted":false,"duplicate_of":null,"objective_ns":1000.0,"roofline":null}',4223284951);
INSERT INTO "events" VALUES(5,1794981437243,NULL,'directive',1,'{"step":1,"mode":"exploit","proposer":"playbook","direction":"vectorize","rule":"","gate":"bandit","reason":"the reason of step 1","reasons":[],"evaluations":0,"island":0,"frontier":0,"profile":"","parent":0,"mate":null,"incumbent":null,"incumbent_ns":null}',1927194576);
INSERT INTO "events" VALUES(6,1794981437244,NULL,'candidate',1,'{"step":1,"source":"e5ba6d6da97ebd7404ca1c824e46fdd9fd0e9ee77edce1fd2404047f99185643","parents":[],"proposer":"playbook","title":"title 1","genes":[],"tokens":0,"dollars":null}',1433102432);
INSERT INTO "events" VALUES(7,1794981437244,0.5,'evaluation',1,'{"step":1,"candidate":1,"outcome":"not_better","summary":"","identity":"identity 1","shapes":[],"parameters":{},"bottlenecks":[],"profile":"58a44815cb940646a4f4dd8f9d79420a9ddc89b2cc4b3b7c631eb2389244b61f","evaluations":1,"tunable":false,"exhausted":false,"duplicate_of":null,"objective_ns":1001.0,"roofline":null}',149841891);
INSERT INTO "events" VALUES(8,1794981437244,NULL,'directive',2,'{"step":2,"mode":"exploit","proposer":"playbook","direction":"vectorize","rule":"","gate":"bandit","reason":"the reason of step 2","reasons":[],"evaluations":0,"island":0,"frontier":0,"profile":"","parent":1,"mate":null,"incumbent":null,"incumbent_ns":null}',3414743023);
INSERT INTO "events" VALUES(9,1794981437244,NULL,'candidate',2,'{"step":2,"source":"189e66aaf9320ce2c4c06ec4d5f805ed29f60e62d07dcddcc5c0c1b8b606aab0","parents":[],"proposer":"playbook","title":"title 2","genes":[],"tokens":0,"dollars":null}',1653079784);
INSERT INTO "events" VALUES(10,1794981437244,0.5,'evaluation',2,'{"step":2,"candidate":2,"outcome":"not_better","summary":"","identity":"identity 2","shapes":[],"parameters":{},"bottlenecks":[],"profile":"14ca670d4264a95b4808575eb0f225c3318efa882c23994959ec0c88eb6077f5","evaluations":1,"tunable":false,"exhausted":false,"duplicate_of":null,"objective_ns":1002.0,"roofline":null}',4401951);
CREATE TABLE memo(key TEXT PRIMARY KEY, body TEXT NOT NULL, checksum INTEGER NOT NULL);
INSERT INTO "memo" VALUES('instance/0','body 0',1554796343);
INSERT INTO "memo" VALUES('instance/1','body 1',2380035093);
INSERT INTO "memo" VALUES('instance/2','body 2',624770866);
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('format','1');
CREATE TABLE snapshots(number INTEGER PRIMARY KEY, body TEXT NOT NULL, checksum INTEGER NOT NULL);
INSERT INTO "snapshots" VALUES(10,'a fold of ten events',3288178139);
CREATE TABLE steps(step INTEGER PRIMARY KEY, mode TEXT NOT NULL DEFAULT '', proposer TEXT NOT NULL DEFAULT '',
                   direction TEXT NOT NULL DEFAULT '', parent INTEGER, source TEXT NOT NULL DEFAULT '',
                   title TEXT NOT NULL DEFAULT '', identity TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '',
                   objective_ns REAL, summary TEXT NOT NULL DEFAULT '');
INSERT INTO "steps" VALUES(0,'baseline','','',NULL,'faf56f435b1091ad3dc6de4c0767fdb0dbe7096f3510396de164819a24fcb50e','title 0','identity 0','baseline',1000.0,'');
INSERT INTO "steps" VALUES(1,'exploit','playbook','vectorize',0,'e5ba6d6da97ebd7404ca1c824e46fdd9fd0e9ee77edce1fd2404047f99185643','title 1','identity 1','not_better',1001.0,'');
INSERT INTO "steps" VALUES(2,'exploit','playbook','vectorize',1,'189e66aaf9320ce2c4c06ec4d5f805ed29f60e62d07dcddcc5c0c1b8b606aab0','title 2','identity 2','not_better',1002.0,'');
CREATE INDEX events_of_step ON events(step, kind);
CREATE INDEX steps_by_source ON steps(source, step);
CREATE INDEX steps_by_identity ON steps(identity, step);
COMMIT;
