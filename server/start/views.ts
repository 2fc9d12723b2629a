// Wires views: their shared pages, and the public statistics of links.

import type { Config } from '../config/config.ts'
import { renderLinkStats } from '../features/views/share-page/link-stats.ts'
import { STATS_STYLE } from '../features/views/share-page/render-share.ts'
import { createSharePass } from '../features/views/share-page/share-pass.ts'
import type { CommonParts } from './common-parts.ts'

const toCounting = (parts: CommonParts) => ({ ...parts, defaultDomain: parts.site.domain })

/** The part of the needs of public routes that is about views. */
export const createViewNeeds = ({ secret, origin, trustProxy }: Config, shared: CommonParts) => ({
  ...toCounting(shared),
  trustProxy,
  pass: createSharePass(secret, origin),
})

/** The public statistics of a link. */
export const renderPublicStats = async (parts: CommonParts, link: { id: number; workspaceId: number }) => ({
  style: STATS_STYLE,
  content: await renderLinkStats(toCounting(parts), link),
})
