// Runs inside a server process, before the server (`bun --preload`): measures the longest stall of its event loop. The
// stall is counted as processor time of the loop's thread, so other processes do not add to it. The system may count
// that time in ticks of some milliseconds, so a stall is never longer than the time that went by.

const PROBE_PORT = Number(process.env.STALL_PROBE_PORT)
/** How often the loop is looked at. A stall is the time between two looks. */
const LOOK_EVERY_MS = 1

interface Moment {
  clockMs: number
  processor: NodeJS.CpuUsage
}

const now = (): Moment => ({ clockMs: performance.now(), processor: process.threadCpuUsage() })

function measureSince({ clockMs, processor }: Moment): number {
  const { user, system } = process.threadCpuUsage(processor)
  return Math.min(performance.now() - clockMs, (user + system) / 1000)
}

let longestMs = 0
let before = now()

function look() {
  longestMs = Math.max(longestMs, measureSince(before))
  before = now()
}
setInterval(look, LOOK_EVERY_MS)

function stall(ms: number) {
  const from = process.threadCpuUsage()
  while (process.threadCpuUsage(from).user < ms * 1000);
}

/** A known piece of work, to compare stalls with: about 20 ms on a quiet machine, more where others share its caches. */
function work() {
  const counts = new Map<string, number>()
  for (let i = 0; i < 25_000; i++) {
    const name = `name ${(i * 7919) % 10_007}`
    counts.set(name, (counts.get(name) ?? 0) + i)
  }
  JSON.parse(JSON.stringify([...counts]))
}

function measureWork(): number {
  const from = now()
  work()
  return measureSince(from)
}

// `/` answers with the longest stall since the last answer. `/stall?ms=50` makes one. `/work` answers with the time of
// the known work.
Bun.serve({
  hostname: '127.0.0.1',
  port: PROBE_PORT,
  fetch({ url }) {
    const { pathname, searchParams } = new URL(url)
    if (pathname === '/stall') {
      stall(Number(searchParams.get('ms')))
      return new Response()
    }
    if (pathname === '/work') return Response.json(measureWork())
    const answer = Response.json(longestMs)
    longestMs = 0
    return answer
  },
})
