// Samples the stack of the event loop for ten minutes after a stall. If the stall happens again, the log has its
// stack. Before the first stall nothing is sampled or loaded.

import type { Session } from 'node:inspector'

const EVERY_MS = 250
const SAMPLED_MS = 10 * 60_000
const FRAMES_MAX = 12

export interface LoopProfiler {
  /**
   * Ends the current sampling, and samples for ten minutes from now.
   * @param ms duration of the stall
   * @returns the stack that most samples of that time have, innermost function first; undefined where there were none
   */
  takeStack(ms: number): Promise<string | undefined>
  close(): void
}

interface Profile {
  nodes: {
    id: number
    callFrame: { functionName: string; url: string; lineNumber: number }
    children?: number[]
  }[]
  /** The innermost node of each sample. */
  samples?: number[]
}

export function createLoopProfiler(): LoopProfiler {
  let session: Session | undefined
  let timer: Timer | undefined
  const close = () => {
    clearTimeout(timer)
    // Ends the profiler too.
    session?.disconnect()
    session = undefined
  }
  return {
    async takeStack(ms) {
      clearTimeout(timer)
      const profile = session && (await stop(session))
      session ??= await open()
      session.post('Profiler.start')
      timer = setTimeout(close, SAMPLED_MS)
      timer.unref()
      return profile && findStack(profile, Math.floor(ms / EVERY_MS))
    },
    close,
  }
}

async function open(): Promise<Session> {
  const { Session } = await import('node:inspector')
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  // In microseconds.
  session.post('Profiler.setSamplingInterval', { interval: EVERY_MS * 1000 })
  return session
}

const stop = (session: Session) =>
  new Promise<Profile | undefined>((resolve) => {
    session.post('Profiler.stop', (error, answer) => resolve(error ? undefined : answer.profile))
  })

/** @param count of the last samples */
function findStack({ nodes, samples = [] }: Profile, count: number): string | undefined {
  const hits = new Map<number, number>()
  for (const id of samples.slice(-count)) hits.set(id, (hits.get(id) ?? 0) + 1)
  const [top] = [...hits].sort(([, a], [, b]) => b - a)
  const frames: string[] = []
  for (let id = top?.[0]; id !== undefined && frames.length < FRAMES_MAX; id = findParent(nodes, id)) {
    const { functionName, url, lineNumber } = nodes.find((node) => node.id === id)?.callFrame ?? {}
    if (functionName) frames.push(`at ${functionName}${url ? ` (${url}:${(lineNumber ?? 0) + 1})` : ''}`)
  }
  return frames.join('\n') || undefined
}

const findParent = (nodes: Profile['nodes'], id: number) =>
  nodes.find(({ children }) => children?.includes(id))?.id
