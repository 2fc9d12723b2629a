// Sends what visitors send at a steady pace, whether the server keeps up or not, as in a soak: clicks, page views and
// submissions. bun bench/deliveries-load.ts <port> <form key> <seconds>: one line of JSON.

import { USER_AGENT } from './load.ts'

/** Per second, of a soak on two cores: 185,102 clicks, 92,546 page views and 55,188 submissions in ten minutes. */
const RATES = { clicks: 308, views: 154, submissions: 92 }
const TICK_MS = 10
const LINKS = 900

const [port = '', formKey = '', seconds = '10'] = process.argv.slice(2)
const origin = `http://127.0.0.1:${port}`
let sender = 0
const done = { clicks: 0, views: 0, submissions: 0 }
let failed = 0

/** Each request comes from another address, because an address has limits. */
function headers(): Record<string, string> {
  sender++
  const address = [10, (sender >> 16) & 255, (sender >> 8) & 255, sender & 255].join('.')
  return { 'User-Agent': USER_AGENT, 'X-Forwarded-For': address }
}

const senders: Record<keyof typeof done, () => Promise<Response>> = {
  clicks: () => fetch(`${origin}/bench${1 + (sender % LINKS)}`, { headers: headers(), redirect: 'manual' }),
  views: () =>
    fetch(`${origin}/e`, {
      method: 'POST',
      headers: { ...headers(), 'Content-Type': 'text/plain;charset=UTF-8', Origin: 'https://shop.example' },
      body: '{"w":"bench","u":"https://shop.example/bicycles?utm_source=newsletter","r":"https://www.instagram.com/"}',
    }),
  submissions: () =>
    fetch(`${origin}/f/${formKey}`, {
      method: 'POST',
      headers: { ...headers(), Accept: 'application/json' },
      body: new URLSearchParams({
        name: `Ada Lovelace ${sender}`,
        email: `ada.${sender}@example.com`,
        message: 'I would like to know more about your bicycles and when they are in the shop again',
      }),
    }),
}

async function send(kind: keyof typeof done) {
  try {
    const response = await senders[kind]()
    await response.arrayBuffer()
    if (response.status < 400) done[kind]++
    else failed++
  } catch {
    failed++
  }
}

const startedAt = performance.now()
const sent = { clicks: 0, views: 0, submissions: 0 }
const running = new Set<Promise<void>>()
for (let elapsed = 0; elapsed < Number(seconds) * 1000; elapsed = performance.now() - startedAt) {
  for (const kind of ['clicks', 'views', 'submissions'] as const) {
    for (; sent[kind] < (RATES[kind] * elapsed) / 1000; sent[kind]++) {
      const one = send(kind).finally(() => running.delete(one))
      running.add(one)
    }
  }
  await Bun.sleep(TICK_MS)
}
await Promise.all(running)
process.stdout.write(
  `${JSON.stringify({ ...done, failed, seconds: (performance.now() - startedAt) / 1000 })}\n`,
)
process.exit(0)
