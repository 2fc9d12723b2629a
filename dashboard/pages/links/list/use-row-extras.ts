// The clicks and icons of the rows in a list of links, which no row waits for.

import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { useFavicons } from './use-favicons.ts'
import { useSparklines } from './use-sparklines.ts'

export const useRowExtras = (pages: readonly { data: LinkResource[] }[] = []) => ({
  sparklines: useSparklines(pages),
  favicons: useFavicons(pages),
})
