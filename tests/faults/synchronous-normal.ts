// Loaded into a server before its own code (`bun --preload`), to make it forget what FULL means: the test that watches
// the disk has to notice.

import { Database } from 'bun:sqlite'

const run = Database.prototype.run
Database.prototype.run = function (this: Database, text: string, ...rest: never[]) {
  return run.call(this, text.replace('synchronous=FULL', 'synchronous=NORMAL'), ...rest)
} as typeof Database.prototype.run
