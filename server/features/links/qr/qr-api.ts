// The REST API of QR codes (docs/contract.md §2).

import { z } from '@hono/zod-openapi'
import { apiRoute, IdParameter, jsonRequestBody, parseId } from '../../../http/api-route.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { getLink } from '../get.ts'
import type { Site } from '../link.ts'
import { resolveDomain } from '../names/link-domain.ts'
import { drawQrCode } from './draw-qr-code.ts'
import { DrawQr, QrQuery } from './schema.ts'

const links = { tags: ['Links'] }

const qrResponses = {
  200: {
    description: 'The QR code',
    content: {
      'image/svg+xml': { schema: z.string() },
      'image/png': { schema: z.string().openapi({ format: 'binary' }) },
    },
  },
}

const routes = {
  qr: apiRoute({
    ...links,
    method: 'get',
    path: '/links/{id}/qr',
    scope: 'links:read',
    operationId: 'getLinkQr',
    summary: "The link's QR code",
    request: { params: IdParameter, query: QrQuery },
    responses: qrResponses,
    fails: [404],
  }),
  drawQr: apiRoute({
    ...links,
    method: 'post',
    path: '/links/qr',
    scope: 'links:read',
    operationId: 'drawQr',
    idempotent: false,
    summary: 'A QR code of a slug and domain, with a custom logo',
    description:
      'The link need not exist yet. The code is always readable for phones: ' +
      'a logo raises the error correction and takes at most a quarter of the width, and colors without contrast are refused.',
    request: {
      body: jsonRequestBody(DrawQr, { slug: 'spring-sale', dots: 'rounded', corners: 'rounded' }),
    },
    responses: qrResponses,
  }),
}

export const createQrApi = ({ site }: { site: Site }) =>
  createApi()
    .openapi(routes.qr, async (c) => {
      const link = await getLink(c.get('db').read, c.get('actor'), parseId(c.req.valid('param').id))
      const { logo, ...options } = c.req.valid('query')
      const { type, body } = await drawQrCode({ db: c.get('db'), site }, c.get('actor'), link, {
        ...options,
        logo: logo === 'brand' ? logo : undefined,
      })
      return c.body(body, 200, { 'Content-Type': type })
    })
    .openapi(routes.drawQr, async (c) => {
      const { slug, domain, ...options } = c.req.valid('json')
      const { name } = await resolveDomain({ connection: c.get('db').read, site }, c.get('actor'), domain)
      const link = { slug, domain: name }
      const { type, body } = await drawQrCode({ db: c.get('db'), site }, c.get('actor'), link, options)
      return c.body(body, 200, { 'Content-Type': type })
    })
