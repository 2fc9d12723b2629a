// Runs inside a server process, before the server (`bun --preload`): measures the longest stall of its event loop. The
// stall is counted as processor time of the loop's thread, so other processes do not add to it.

const PROBE_PORT = Number(process.env.STALL_PROBE_PORT)
/** How often the loop is looked at. A stall is the processor time between two looks. */
const LOOK_EVERY_MS = 1

let longestMs = 0
let before = process.threadCpuUsage()

function look() {
  const { user, system } = process.threadCpuUsage(before)
  before = process.threadCpuUsage()
  longestMs = Math.max(longestMs, (user + system) / 1000)
}
setInterval(look, LOOK_EVERY_MS)

function stall(ms: number) {
  const from = process.threadCpuUsage()
  while (process.threadCpuUsage(from).user < ms * 1000);
}

// `/` answers with the longest stall since the last answer. `/stall?ms=50` makes one.
Bun.serve({
  hostname: '127.0.0.1',
  port: PROBE_PORT,
  fetch({ url }) {
    const { pathname, searchParams } = new URL(url)
    if (pathname === '/stall') {
      stall(Number(searchParams.get('ms')))
      return new Response()
    }
    const answer = Response.json(longestMs)
    longestMs = 0
    return answer
  },
})
