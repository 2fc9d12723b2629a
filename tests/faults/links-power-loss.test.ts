// No 201 is sent before the link that it acknowledges is synced to the disk.

import { expect } from 'bun:test'
import { testPowerLoss } from './power-loss.ts'

testPowerLoss('201', {
  answerPrefixes: ['HTTP/1.1 201 '],
  async begin(server, { keys: [key = ''] }) {
    async function create(slug: string) {
      const { status } = await server.api(key, '/links', { slug, destinationUrl: 'https://example.com/' })
      expect(status).toBe(201)
    }
    return create
  },
})
