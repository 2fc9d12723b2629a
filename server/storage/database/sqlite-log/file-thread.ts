// A thread for disk work that would block the event loop. It starts with the first request, and a thread that has
// ended is replaced with the next one.

/** The answer of a thread whose work has failed. */
export interface ThreadError {
  error: string
}

export interface FileThread<Request, Answer> {
  /** One request at a time. @throws when the work fails, or the thread ends */
  ask(request: Request): Promise<Answer>
  /** Ends the thread. Call it when no request is under way. */
  close(): Promise<void>
}

export function createFileThread<Request, Answer extends object>(script: URL): FileThread<Request, Answer> {
  let thread: Worker | undefined
  let fail = (_problem: string) => {}

  function start(): Worker {
    const started = new Worker(script.href, { smol: true })
    // The thread does not keep the process alive.
    started.unref()
    const lose = (problem: string) => {
      if (thread === started) thread = undefined
      fail(problem)
    }
    started.addEventListener('error', ({ message }) => lose(message))
    started.addEventListener('close', () => lose('the thread has ended'))
    return started
  }

  return {
    ask(request) {
      thread ??= start()
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      fail = (problem) => reject(new Error(problem))
      thread.onmessage = ({ data }: MessageEvent<Answer | ThreadError>) =>
        'error' in data ? reject(new Error(data.error)) : resolve(data)
      thread.postMessage(request)
      return promise
    },
    async close() {
      if (!thread) return
      const ended = Promise.withResolvers<void>()
      fail = () => ended.resolve()
      // Keeps the process alive until the thread has ended: the caller's work after this must still run.
      thread.ref()
      thread.postMessage('close')
      await ended.promise
    },
  }
}
