// Takes the sync out of a server's commits (`bun --preload`): its thread syncs another file. The power loss test must
// notice.

import { writeFileSync } from 'node:fs'

const postMessage = Worker.prototype.postMessage
Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
  if (typeof message !== 'string' || !message.endsWith('-wal'))
    return postMessage.call(this, message, ...rest)
  const other = `${message}.other`
  writeFileSync(other, '')
  return postMessage.call(this, other, ...rest)
} as typeof Worker.prototype.postMessage
