// The small pages at fixed paths, over HTTP.

import { expect, test } from 'bun:test'
import { onSqlite } from '../../tests/support/world.ts'

onSqlite('crawlers', (server) => {
  test('may read every path, so that a preview of a short link can be made', async () => {
    const { status, text, headers } = await server().call('/robots.txt')
    expect([status, text]).toEqual([200, 'User-agent: *\nAllow: /\n'])
    expect(headers.get('content-type')).toStartWith('text/plain')
  })

  test('are told on every page to keep it out of their index', async () => {
    for (const path of ['/app', '/app/links', '/docs', '/thanks', '/nothing-here']) {
      const { headers } = await server().call(path, { headers: { Accept: 'text/html' } })
      expect([path, headers.get('x-robots-tag')]).toEqual([path, 'noindex'])
    }
  })
})
