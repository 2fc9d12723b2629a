// Runs inside a server process, before the server (`bun --preload`): a read of a text with STALL_MARK holds the event
// loop until there is a file at STALL_UNTIL. A test thus chooses the stalling request and the end of the stall.

import { existsSync } from 'node:fs'

const [MARK, UNTIL] = [process.env.STALL_MARK as string, process.env.STALL_UNTIL as string]
const PAUSE_MS = 5

function stallOn(text: string): string {
  if (text.includes(MARK)) while (!existsSync(UNTIL)) Bun.sleepSync(PAUSE_MS)
  return text
}

const { decode } = TextDecoder.prototype
TextDecoder.prototype.decode = function (...input) {
  return stallOn(decode.apply(this, input))
}

/** As heads of the fast path are read. */
const bytes = Buffer.prototype as Buffer & { latin1Slice(start?: number, end?: number): string }
const { latin1Slice } = bytes
bytes.latin1Slice = function (...range) {
  return stallOn(latin1Slice.apply(this, range))
}
