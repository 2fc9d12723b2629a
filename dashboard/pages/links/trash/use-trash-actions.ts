// Actions on links in the trash: restore, delete one for good, empty the trash.

import { useQueryClient } from '@tanstack/react-query'
import { emptyTrash, invalidateLinks, purgeLink, restoreLinks } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { formatCount } from '../../../ui/format.ts'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'

export function useTrashActions() {
  const api = useApi()
  const client = useQueryClient()
  return {
    /** Restored links appear in the lists from their start. */
    async restore(ids: number[]) {
      try {
        await restoreLinks(api, ids)
        toast(ids.length === 1 ? 'Link restored' : `${formatCount(ids.length, 'link')} restored`)
      } catch (error) {
        toastError(error, 'Could not restore')
      }
      await invalidateLinks(client, api, { fromStart: true })
    },
    /** Throws, so that the dialog can show the error. */
    async purge(id: number) {
      await purgeLink(api, id)
      toast('Link deleted for good')
      await invalidateLinks(client, api)
    },
    async empty() {
      const { purged } = await emptyTrash(api)
      toast(`${formatCount(purged, 'link')} deleted for good`)
      await invalidateLinks(client, api)
    },
  }
}
