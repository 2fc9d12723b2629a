// Measures page views at the intake beside redirects of the same server: bun bench/intake.ts. Alternating rounds of one run.

import { openDatabase } from '../server/storage/database/open-database.ts'
import { type LoadResult, load, requireWrk, USER_AGENT } from './load.ts'
import { median } from './median.ts'
import { seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'

const ROUNDS = 7

/** First page views, each from another address, because an address may send 120 a minute. */
const landings = `
wrk.headers["User-Agent"] = "${USER_AGENT}"
wrk.headers["Content-Type"] = "text/plain;charset=UTF-8"
wrk.headers["Origin"] = "https://shop.example"
wrk.headers["Referer"] = "https://shop.example/"
wrk.headers["Accept"] = "*/*"
wrk.headers["Accept-Language"] = "en-GB,en;q=0.9"
local n = math.random(0, 16000000)
request = function()
  n = n + 1
  wrk.headers["X-Forwarded-For"] = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  return wrk.format("POST", "/e", nil, '{"w":"bench","u":"https://shop.example/bicycles?utm_source=newsletter&utm_campaign=spring","r":"https://www.instagram.com/"}')
end
`

requireWrk()
const db = await openDatabase({ dataDir: TOWPATH_DIR })
await seedLinks(db, 1000)
await db.close()
const server = await startTowpath({ TRUST_PROXY: '127.0.0.1' })
try {
  await load(server.port, { seconds: 1 })
  await load(server.port, { seconds: 1, script: landings })
  const rounds: [LoadResult, LoadResult][] = []
  for (let round = 1; round <= ROUNDS; round++) {
    rounds.push([await load(server.port, { script: landings }), await load(server.port)])
    process.stderr.write(`round ${round} of ${ROUNDS}\n`)
  }
  const of = (side: 0 | 1, figure: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    median(rounds.map((round) => round[side][figure]))
  const row = (name: string, side: 0 | 1) =>
    `| ${[name, Math.round(of(side, 'perSecond')).toLocaleString('en-US'), of(side, 'p50Ms').toFixed(2), of(side, 'p99Ms').toFixed(2), median(rounds.map((round) => round[side].perSecond / round[1].perSecond)).toFixed(2)].join(' | ')} |`
  const failed = rounds.flat().reduce((sum, each) => sum + each.failed, 0)
  process.stdout.write(
    [
      '| | requests/s | p50 ms | p99 ms | / redirects |',
      '|---|---|---|---|---|',
      row('first page views', 0),
      row('redirects', 1),
      '',
      `Failed: ${failed}`,
      '',
    ].join('\n'),
  )
} finally {
  await server.end()
}
process.exit(0)
