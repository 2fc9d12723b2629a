// Gives all links of a broken destination another one. The toast can undo it.

import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Api, toFieldErrors } from '../../../api/client.ts'
import { type DestinationResource, repairDestination, undoRepair } from '../../../api/destinations.ts'
import { invalidateLinks } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { formatCount } from '../../../ui/format.ts'
import { TextField } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { withScheme } from '../editor/destination-url.ts'

interface Props {
  destination: DestinationResource
  onClose: () => void
}

const UNDO_MS = 15_000

export function RepairDialog({ destination, onClose }: Props) {
  const [text, setText] = useState(destination.url)
  const save = useRepair(destination.url, onClose)
  const { to, general } = toFieldErrors(save.error, ['to'])
  return (
    <FormDialog
      onClose={onClose}
      title="Repair all links"
      description={<span className="block break-all">{destination.url}</span>}
      action={`Repair ${formatCount(destination.links, 'link')}`}
      busy={save.isPending}
      disabled={text.trim() === '' || text === destination.url}
      error={general}
      className="grid gap-3"
      onSubmit={() => save.mutate(withScheme(text))}
    >
      <TextField
        label="New destination URL"
        inputMode="url"
        autoComplete="off"
        required
        value={text}
        error={to}
        onChange={({ target }) => setText(target.value)}
      />
      <p className="text-sm text-soft">
        It takes the place of the old one wherever a link has it: as destination, expiration URL, in rules,
        targeting and split tests. Archived and expired links change too.
      </p>
    </FormDialog>
  )
}

function useRepair(from: string, onSaved: () => void) {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (to: string) => repairDestination(api, from, to),
    async onSuccess(ids, to) {
      toast(`${formatCount(ids.length, 'link')} repaired`, {
        forMs: UNDO_MS,
        action: { label: 'Undo', run: () => undo(client, api, { from, to, ids }) },
      })
      await invalidateAll(client, api)
      onSaved()
    },
    onError() {},
  })
}

async function undo(
  client: QueryClient,
  api: Api,
  { from, to, ids }: { from: string; to: string; ids: number[] },
): Promise<boolean> {
  try {
    await undoRepair(api, from, to, ids)
    toast(`${formatCount(ids.length, 'link')} as before`)
    return true
  } catch (error) {
    toastError(error, 'Could not undo')
    return false
  } finally {
    await invalidateAll(client, api)
  }
}

const invalidateAll = (client: QueryClient, api: Api) =>
  Promise.all([
    client.invalidateQueries({ queryKey: [api.workspaceId, 'destinations'] }),
    invalidateLinks(client, api),
  ])
