// Wires views: their shared pages, and the public statistics of links.

import type { Config } from '../config/config.ts'
import { renderLinkStats } from '../features/views/share-page/link-stats.ts'
import { STATS_STYLE } from '../features/views/share-page/render-share.ts'
import { createSharePass } from '../features/views/share-page/share-pass.ts'
import type { CommonParts } from './common-parts.ts'

/** The part of the needs of public routes that is about views. */
export function createViewNeeds(
  { secret, origin, trustProxy }: Config,
  shared: CommonParts & { resolvePendingAttribution: (workspaceId: number) => Promise<void> },
) {
  const counting = { ...shared, defaultDomain: shared.site.domain }
  return {
    sharedViews: { ...counting, trustProxy, pass: createSharePass(secret, origin) },
    publicStats: {
      style: STATS_STYLE,
      render: (link: { id: number; workspaceId: number }) => renderLinkStats(counting, link),
    },
  }
}
