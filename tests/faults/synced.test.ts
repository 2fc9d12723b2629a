// No 201 leaves before the disk has the link that it acknowledges.

import { expect } from 'bun:test'
import { survivesPowerLoss } from './power-loss.ts'

survivesPowerLoss('201', {
  answers: ['HTTP/1.1 201 '],
  async begin(server, { keys: [key = ''] }) {
    async function create(slug: string) {
      const { status } = await server.api(key, '/links', { slug, destinationUrl: 'https://example.com/' })
      expect(status).toBe(201)
    }
    return create
  },
})
