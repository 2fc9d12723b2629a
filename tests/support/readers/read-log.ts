// Captures the log of a server in this process while a test works.

import { spyOn } from 'bun:test'
import { getLogFormat, getLogLevel, setLogFormat, setLogLevel } from '../../../server/lib/log.ts'
import type { LogFormat } from '../../../server/lib/telemetry/log-format.ts'

export interface LogReader {
  /** Everything so far, standard error too. */
  readText(): string
  /** The lines so far, for the format `json`. */
  // biome-ignore lint/suspicious/noExplicitAny: each event has fields of its own
  readLines(): any[]
}

/** Logs from the level `info` on, while `work` runs. */
export async function readLog(work: (log: LogReader) => Promise<void>, format: LogFormat = 'json') {
  const before = { level: getLogLevel(), format: getLogFormat() }
  const written: string[] = []
  const keep = (text: string | Uint8Array) => written.push(String(text)) > 0
  const spies = [process.stdout, process.stderr].map((stream) =>
    spyOn(stream, 'write').mockImplementation(keep),
  )
  setLogLevel('info')
  setLogFormat(format)
  try {
    await work({
      readText: () => written.join(''),
      readLines: () =>
        written
          .join('')
          .split('\n')
          .filter((line) => line.startsWith('{'))
          .map((line) => JSON.parse(line)),
    })
  } finally {
    for (const spy of spies) spy.mockRestore()
    setLogLevel(before.level)
    setLogFormat(before.format)
  }
}
