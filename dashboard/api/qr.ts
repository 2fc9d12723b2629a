// Draws QR codes over the REST API, also of links that are not saved yet.

import type { QrStyle } from '../../server/features/links/qr/schema.ts'
import type { Api } from './client.ts'

export type { QrStyle }

export interface QrDrawing {
  slug: string
  /** undefined: where new links are made. */
  domain?: string
  size?: number
  margin?: number
  /** `#rrggbb` */
  color?: string
  background?: string
  dots?: QrStyle
  corners?: QrStyle
  /** `brand`, or a PNG as a data URL. */
  logo?: string | null
}

export const drawQr = async (
  api: Api,
  format: 'svg' | 'png',
  drawing: QrDrawing,
  call: { signal?: AbortSignal } = {},
) => (await api.raw('/links/qr', { ...call, method: 'POST', body: { format, ...drawing } })).blob()
