// Shows the progress of a long command: a bar in a terminal, a line every two seconds in a file.

const WIDTH = 28
const LINE_EVERY_MS = 2_000

export interface ProgressBar {
  /** @param done from 0 to 1 */
  at(done: number, what: string): void
  end(): void
}

export function createProgressBar(stream: { isTTY?: boolean; write(text: string): unknown }): ProgressBar {
  let shown = ''
  let nextLine = 0
  return {
    at(done, what) {
      const percent = `${Math.floor(Math.min(1, done) * 100)} %`.padStart(5)
      if (!stream.isTTY) {
        const now = performance.now()
        if (now < nextLine) return
        nextLine = now + LINE_EVERY_MS
        stream.write(`${percent.trim()}: ${what}\n`)
        return
      }
      const full = Math.round(Math.min(1, done) * WIDTH)
      const line = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${percent}  ${what}`
      if (line === shown) return
      shown = line
      stream.write(`\r\x1b[2K${line}`)
    },
    end() {
      if (stream.isTTY) stream.write('\r\x1b[2K')
    },
  }
}
