// A process for descriptors.test.ts: a fast path, and something beside it that takes every descriptor of the process.
// It reads commands on its input: `hog` takes them all, `free` gives them back. It writes its processor time, in ms, on
// `time`.

import { closeSync, openSync } from 'node:fs'
import { openFastPath } from '../../server/http/fast-path/listener.ts'

const hogged: number[] = []

function hog() {
  try {
    for (;;) hogged.push(openSync('/dev/null', 'r'))
  } catch {
    // All are taken.
  }
}

openFastPath({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  behind: { hostname: '127.0.0.1', port: 9 },
  redirect: () => ({ status: 302, location: 'https://example.com/' }),
  idleSeconds: 200,
  progressMs: 400,
})
process.stdout.write('ready\n')

for await (const line of console) {
  if (line === 'hog') hog()
  if (line === 'free') for (const descriptor of hogged.splice(0)) closeSync(descriptor)
  const { user, system } = process.cpuUsage()
  process.stdout.write(`${line} ${(user + system) / 1000}\n`)
}
