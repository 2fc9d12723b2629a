// Exports through the API: links as CSV and NDJSON, and a whole workspace as one zip.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { onBothEngines } from '../../../tests/support/server/test-server.ts'

setDefaultTimeout(120_000)

onBothEngines('exporting a workspace', (server) => {
  test('smoke', async () => {
    const ws = await server().createWorkspace()
    await ws.createLink({ slug: `dl-${ws.id}`, title: '=1+1', tagNames: ['a, b', 'c'] })
    await server().click(`dl-${ws.id}`)
    await server().waitUntilShipped()
    const { status, text } = await ws.api('/links/export')
    console.log(status, text)
    console.log((await ws.api('/links/export?format=ndjson')).text)
    const response = await fetch(`${server().origin}/v1/export`, {
      headers: { Authorization: `Bearer ${ws.key}` },
    })
    console.log(response.status, [...response.headers])
    await Bun.write('/tmp/export/a.zip', await response.arrayBuffer())
  })
})
