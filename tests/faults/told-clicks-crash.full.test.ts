// kill -9 of a server and of its hit worker while clicks are told to a webhook: each answered click is in exactly one delivery.

import { expect, setDefaultTimeout } from 'bun:test'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { listWorkerProcesses } from '../support/processes/worker-processes.ts'
import { createRandomMs } from '../support/random.ts'
import { atScale, full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp } from './click-counts.ts'
import { createInstallation } from './server-process.ts'

setDefaultTimeout(300_000)
const randomMs = createRandomMs('kills while clicks are told')
const ROUNDS = atScale({ full: 3, soak: 20 })
const CLICKS_A_ROUND = 60

full('clicks are told once through kills of the server and of its hit worker', async () => {
  const receiver = startWebhookReceiver()
  const installation = await createInstallation(1)
  const environment = { WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' }
  const key = installation.keys[0] as string
  const answered = new Set<string>()
  const sent = new Set<string>()
  /** The clicks of each delivery, whatever the number of its attempts. */
  const readTold = () => {
    const deliveries = new Map(receiver.requests.map(({ id, body }) => [id, body]))
    return [...deliveries.values()].flatMap((body): string[] =>
      JSON.parse(body).data.clicks.map(({ utmTerm }: { utmTerm: string }) => utmTerm),
    )
  }
  try {
    let server = await installation.start({ environment })
    const channel = { type: 'webhook', name: 'Clicks', url: receiver.url, events: ['link.clicked'] }
    expect((await server.api(key, '/channels', channel)).status).toBe(201)
    expect((await createLinkOverHttp('told', key, server)).status).toBe(201)
    for (let round = 0; round < ROUNDS; round++) {
      const running = server
      const load = Array.from({ length: CLICKS_A_ROUND }, async (_, n) => {
        await Bun.sleep(n * 100)
        const term = `${round}-${n}`
        sent.add(term)
        // A click that no server takes is not answered.
        const answer = await running.click(`told?utm_term=${term}`).catch(() => undefined)
        if (answer?.status === 302) answered.add(term)
      })
      await Bun.sleep(randomMs(500, 2_000))
      for (const worker of listWorkerProcesses(running.pid)) process.kill(worker, 'SIGKILL')
      // About when the deliveries of a round are stored.
      await Bun.sleep(randomMs(3_000, 5_500))
      await running.kill()
      await Promise.all(load)
      server = await installation.start({ environment })
    }
    await until(
      'every answered click to be told',
      () => {
        const told = new Set(readTold())
        return [...answered].every((term) => told.has(term))
      },
      60_000,
    )
    const told = readTold()
    expect(new Set(told).size).toBe(told.length)
    expect(told.every((term) => sent.has(term))).toBe(true)
    expect(answered.size).toBeGreaterThan(ROUNDS * 10)
  } finally {
    await installation.end()
    await receiver.stop()
  }
})
