// The live stream, through HTTP, and the hub behind it.

import { expect, test } from 'bun:test'
import { quick } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import { createTeam } from '../../../tests/support/users/signed-in-user.ts'
import { onSqlite, type TestServer } from '../../../tests/support/world.ts'
import { createLiveHub } from './live-hub.ts'
import type { WorkspaceFeedNeeds } from './workspace-feed.ts'

// biome-ignore lint/suspicious/noExplicitAny: frames of every shape
type Frame = { event: string; data: any }

async function open(server: TestServer, headers: Record<string, string>, query = '') {
  const ending = new AbortController()
  const response = await fetch(`${server.origin}/v1/analytics/live${query}`, {
    headers,
    signal: ending.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const frames: Frame[] = []
  return {
    response,
    close: () => ending.abort(),
    /** @returns the first frame that fits; undefined at the end of the stream */
    async find(fits: (frame: Frame) => boolean): Promise<Frame | undefined> {
      for (;;) {
        const at = frames.findIndex(fits)
        if (at >= 0) return frames.splice(0, at + 1).at(-1)
        const { value, done } = (await reader?.read()) ?? { done: true, value: undefined }
        if (done) return undefined
        const parts = (text + value).split('\n\n')
        text = parts.pop() ?? ''
        for (const part of parts) {
          const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? []
          if (event && data) frames.push({ event, data: JSON.parse(data) })
        }
      }
    },
  }
}

const hasLink = (slug: string) => (frame: Frame) =>
  frame.event === 'activity' && frame.data.clicks.some((click: { slug: string }) => click.slug === slug)

onSqlite('the live stream', (server) => {
  quick(
    'shows clicks of people and submissions of its workspace as they come, and the figures of 30 minutes',
    async () => {
      const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
      const [before, link] = [await ws.createLink(), await ws.createLink()]
      const [theirs, form] = [await other.createLink(), await ws.createForm({ name: 'Contact' })]
      await server().click(before.slug)
      await server().waitUntilShipped()
      const stream = await open(server(), { Authorization: `Bearer ${ws.key}` })
      expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
      expect(stream.response.headers.get('x-accel-buffering')).toBe('no')
      expect(stream.response.headers.get('cache-control')).toContain('no-store')
      expect(await stream.find(hasLink(before.slug))).toBeDefined()
      await server().click(link.slug, { Referer: 'https://news.example/' })
      await server().click(link.slug, { 'User-Agent': 'Googlebot/2.1' })
      await server().click(theirs.slug)
      await server().submit(form.formKey, { message: 'what a person wrote' })
      const seen = await stream.find(hasLink(link.slug))
      expect(seen?.data.clicks).toEqual([
        expect.objectContaining({
          linkId: link.id,
          referrer: 'news.example',
          device: 'Mobile',
          trigger: 'link',
        }),
      ])
      const submitted = seen?.data.submissions.length
        ? seen
        : await stream.find(({ event, data }) => event === 'activity' && data.submissions.length > 0)
      expect(submitted?.data.submissions).toEqual([
        expect.objectContaining({ formKey: form.formKey, formName: 'Contact' }),
      ])
      expect(JSON.stringify(submitted)).not.toContain('what a person wrote')
      const late = await open(server(), { Authorization: `Bearer ${ws.key}` })
      expect((await late.find(({ event }) => event === 'activity'))?.data.clicks).toHaveLength(2)
      const figures = await stream.find(({ event, data }) => event === 'figures' && data.clicks === 2)
      expect(figures?.data).toMatchObject({
        submissions: 1,
        links: expect.any(Array),
        countries: expect.any(Array),
      })
      expect(figures?.data.minutes).toHaveLength(30)
      stream.close()
      late.close()
    },
  )

  test('ends when its key is revoked, when its session ends, after its time, and at shutdown', async () => {
    const team = await createTeam(server())
    const { id, key } = (await team.owner.in(team.id).post('/keys', { name: 'live' })).json.data
    const cookie = {
      Cookie: team.member.cookie,
      'X-Workspace': String(team.id),
      'Sec-Fetch-Site': 'same-origin',
    }
    const streams = [await open(server(), { Authorization: `Bearer ${key}` }), await open(server(), cookie)]
    const ended = Promise.all(streams.map(({ find }) => find(() => false)))
    await team.owner.in(team.id).delete(`/keys/${id}`)
    await server().app.db.write((connection) =>
      connection.deleteFrom('sessions').where('user_id', '=', team.member.id).execute(),
    )
    const short = await open(server(), { Authorization: `Bearer ${team.key}` }, '?seconds=0')
    expect(await short.find(() => false)).toBeUndefined()
    expect(await ended).toEqual([undefined, undefined])
    const head = await server().call('/v1/analytics/live', {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${team.key}` },
    })
    expect(head.status).toBe(200)
    expect((await team.api('/analytics/live?seconds=x')).status).toBe(422)
  })
})

test('a hub asks once for all listeners, bounds them, closes who is too slow, and ends with the server', async () => {
  const asked = { clicks: 0, keys: 0 }
  let now = Date.parse('2026-03-29T12:00:00Z')
  const rows = { execute: async () => [] }
  const query: object = new Proxy(rows, {
    get: (target, name) => (name === 'execute' ? target.execute : () => query),
  })
  const needs = {
    db: { read: { selectFrom: () => query } },
    now: () => now,
    defaultDomain: 'go.example',
    hits: {
      countedUntil: () => now,
      ask: async ({ groupBy }: { groupBy: { by: string } }) =>
        groupBy.by === 'total' ? [{ key: null, clicks: 5, visitors: 5 }] : [],
      listRecentClicks: async () => {
        asked.clicks++
        return Array.from({ length: 1000 }, () => ({ at: now, linkId: 1, city: 'x'.repeat(500) }))
      },
    },
  } as unknown as WorkspaceFeedNeeds
  const hub = createLiveHub(needs, { stepMs: 2, recheckMs: 5 })
  const isValid = async () => {
    asked.keys++
    return true
  }
  const request = { workspaceId: 1, credential: 'key', isValid }
  const streams = Array.from({ length: 1000 }, () => hub.listen(request))
  expect(() => hub.listen(request)).toThrow('too many live streams')
  expect(() => hub.listen({ ...request, workspaceId: 2 })).not.toThrow()
  await until('three checks of the key', () => asked.keys >= 3)
  // Two channels step, and each asks once, however many listen.
  const steps = asked.clicks
  expect(steps).toBeLessThan(50)
  expect(asked.keys).toBeLessThan(100)
  // Nobody reads: 50 clicks of 500 characters a step fill the buffer of each.
  await until('room for another listener', () => {
    now += 100
    try {
      return hub.listen(request)
    } catch {
      return undefined
    }
  })
  hub.close()
  const reader = (streams[0] as ReadableStream<Uint8Array>).getReader()
  let bytes = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length
  expect(bytes).toBeLessThan(600_000)
  expect((await hub.listen(request).getReader().read()).done).toBe(false)
})
