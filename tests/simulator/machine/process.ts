// A simulated process: the globals and the calls of the platform that the code of the product sees. A process can be killed
// at any call.

import type { World } from './world.ts'

export interface SimulatedProcess {
  readonly name: string
  readonly world: World
  alive: boolean
  /** Kills the process at this call from now on. */
  callsLeft: number
  /** Ends the process at once. What it had planned never happens. */
  kill(reason: string): void
  /** Plans a step that happens only while the process lives. @returns cancels it */
  after(delayMs: number, label: string, run: () => void): () => void
  /** A call that the kernel answers later. It has its effect at its beginning, or at its end. */
  call<T>(label: string, latencyMs: number, work: () => T): Promise<T>
  /** A call that changes something and is answered at once. A process that is killed in it changes nothing. */
  callSync<T>(work: () => T, ifKilled: T): T
}

export function createProcess(
  world: World,
  name: string,
  onExit: (reason: string) => void,
): SimulatedProcess {
  const process: SimulatedProcess = {
    name,
    world,
    alive: true,
    callsLeft: Number.POSITIVE_INFINITY,
    kill(reason) {
      if (!process.alive) return
      process.alive = false
      world.note(`${name} ends: ${reason}`)
      onExit(reason)
    },
    after: (delayMs, label, run) => world.plan(delayMs, label, () => process.alive && run()),
    call(label, latencyMs, work) {
      countCall(process)
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof work>>()
      if (!process.alive) return promise
      const attempt = () => {
        try {
          const value = work()
          return () => resolve(value)
        } catch (error) {
          return () => reject(error)
        }
      }
      const begun = world.chance(0.5) ? attempt() : undefined
      process.after(latencyMs, label, () => (begun ?? attempt())())
      return promise
    },
    callSync(work, ifKilled) {
      countCall(process)
      return process.alive ? work() : ifKilled
    },
  }
  return process
}

function countCall(process: SimulatedProcess) {
  if (--process.callsLeft <= 0) process.kill('killed at a call')
}

/** Replacements for the globals that the product's code uses. */
export function createGlobals(process: SimulatedProcess): Record<string, unknown> {
  const { world } = process
  const wallClock = () => world.wallClock()
  class SimulatedDate extends Date {
    constructor(...given: [] | [number]) {
      if (given.length === 0) super(wallClock())
      else super(...given)
    }
    static override now = wallClock
  }
  const sleep = (ms: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    process.after(ms, 'sleep', resolve)
    return promise
  }
  const startTimer = (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
    const timer = {
      cancel: process.after(ms, 'timer', () => run(...given)),
      unref: () => timer,
      ref: () => timer,
    }
    return timer
  }
  const repeat = (run: () => void, ms: number) => {
    const timer = { cancel: () => {}, unref: () => timer, ref: () => timer }
    const next = () => {
      timer.cancel = process.after(ms, 'interval', () => {
        next()
        run()
      })
    }
    next()
    return timer
  }
  const cancel = (timer?: { cancel(): void }) => timer?.cancel()
  const print = { write: (line: string) => world.print(`${process.name} says ${line.trimEnd()}`) }
  return {
    Date: SimulatedDate,
    performance: { now: () => world.now() },
    setTimeout: startTimer,
    setImmediate: (run: () => void) => startTimer(run),
    setInterval: repeat,
    clearTimeout: cancel,
    clearInterval: cancel,
    Math: Object.assign(Object.create(Math), { random: world.random }),
    process: { stdout: print, stderr: print, on() {}, exit: (code: number) => process.kill(`exit ${code}`) },
    sleep,
  }
}
