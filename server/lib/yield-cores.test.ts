import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { NICENESS } from './yield-cores.ts'

/** Of every thread of this process, by name. */
function nicenesses() {
  return readdirSync('/proc/self/task').map((thread) => ({
    name: readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim(),
    niceness: Number(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]),
  }))
}

test.if(process.platform === 'linux')(
  'a worker and the pool give way; whoever answers requests does not',
  async () => {
    // Makes the pool.
    await Promise.all(Array.from({ length: 8 }, () => readFile('/proc/self/stat')))
    const before = getPriority()
    const worker = new Worker(
      `import { yieldCores } from '${import.meta.dir}/yield-cores.ts'
     import { parentPort } from 'node:worker_threads'
     yieldCores()
     parentPort.postMessage('done')
     setInterval(() => {}, 1000)`,
      { eval: true },
    )
    await new Promise((resolve) => worker.once('message', resolve))
    const pool = nicenesses().filter(({ name }) => name.startsWith('Bun Pool'))
    expect(pool.length).toBeGreaterThan(0)
    expect(new Set(pool.map(({ niceness }) => niceness))).toEqual(new Set([NICENESS]))
    expect(
      nicenesses().filter(({ name, niceness }) => niceness === NICENESS && !name.startsWith('Bun Pool')),
    ).toHaveLength(1)
    expect(getPriority()).toBe(before)
    await worker.terminate()
  },
)
