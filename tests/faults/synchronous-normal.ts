// Replaces synchronous=FULL with synchronous=NORMAL in a server (`bun --preload`): the power loss test must notice.

import { Database } from 'bun:sqlite'

const run = Database.prototype.run
Database.prototype.run = function (this: Database, text: string, ...rest: never[]) {
  return run.call(this, text.replace('synchronous=FULL', 'synchronous=NORMAL'), ...rest)
} as typeof Database.prototype.run
