// Reads a file in a process of its own, and prints how many records it has, what is wrong with it, and the most memory
// that the process had: `bun read-file.fixture.ts <path>`.

import { readFileSync } from 'node:fs'
import { openSourceFile } from './open-source-file.ts'
import { readRecords } from './read-records.ts'
import { FileProblem } from './source-file.ts'

const [path = ''] = process.argv.slice(2)
let records = 0
let problem: string | null = null
try {
  const file = await openSourceFile(path, null)
  for await (const batch of readRecords(file, { lists: ['links'], tables: ['url'] })) records += batch.length
} catch (error) {
  if (!(error instanceof FileProblem)) throw error
  problem = error.message
}
// `ru_maxrss` of a process begins with the memory that its parent had (getrusage(2), exec keeps it). This one does not.
const [, peakKib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
process.stdout.write(JSON.stringify({ records, problem, peakBytes: Number(peakKib) * 1024 }))
