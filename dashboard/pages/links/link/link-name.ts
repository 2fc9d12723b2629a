// The name of a link in lists and titles.

import type { LinkResource } from '../../../../server/features/links/schema.ts'

/** The title, or the short link where there is no title. */
export const toLinkName = (link: LinkResource) => link.title ?? `${link.domain}/${link.slug}`
