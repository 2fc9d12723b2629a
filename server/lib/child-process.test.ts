import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NICENESS, OOM_SCORE, startChild } from './child-process.ts'

/** In about one of five, the channel is closed for a moment before the exit is noticed. */
const DEATHS = 100

test('a message to a process that is just dying is no error, at whichever moment', async () => {
  for (let death = 0; death < DEATHS; death++) {
    let isGone = false
    const child = startChild({
      command: [process.execPath, '-e', ''],
      onMessage() {},
      onExit() {
        isGone = true
      },
    })
    child.kill()
    while (!isGone) {
      expect(() => child.post('hello')).not.toThrow()
      await new Promise(setImmediate)
    }
  }
})

/** The niceness of every thread of a process. */
const nicenesses = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]),
  )

test.if(process.platform === 'linux')(
  'lowers the priority of every thread, later ones too, and raises the OOM score; the parent process keeps its own',
  async () => {
    const before = nicenesses(process.pid)
    const code = `import { readFile } from 'node:fs/promises'
      import { lowerPriority } from '${join(import.meta.dir, 'child-process.ts')}'
      lowerPriority()
      await Promise.all(Array.from({ length: 8 }, () => readFile('/proc/self/stat')))
      process.send('done')
      setInterval(() => {}, 1000)`
    const done = Promise.withResolvers<void>()
    const child = Bun.spawn([process.execPath, '-e', code], { ipc: () => done.resolve() })
    await done.promise
    const lowered = nicenesses(child.pid)
    expect(lowered.length).toBeGreaterThan(3)
    expect(new Set(lowered)).toEqual(new Set([NICENESS]))
    expect(readFileSync(`/proc/${child.pid}/oom_score_adj`, 'utf8').trim()).toBe(String(OOM_SCORE))
    expect(new Set(nicenesses(process.pid))).toEqual(new Set(before))
    child.kill('SIGKILL')
    await child.exited
  },
)
