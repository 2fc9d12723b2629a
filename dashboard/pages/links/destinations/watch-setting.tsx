// The setting that checks destinations daily and mails the owners: a card while it is on, and the way to switch it on.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Unlink } from 'lucide-react'
import { updateWorkspace, workspaceQuery } from '../../../api/workspace.ts'
import { useApi, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { Toggle } from '../../../ui/forms/field.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { COLUMN } from '../../../ui/page.tsx'

function useWatchMutation() {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (watchDestinations: boolean) => updateWorkspace(api, { watchDestinations }),
    async onSuccess(saved) {
      client.setQueryData(workspaceQuery(api).queryKey, saved)
      focusIfLost('#main')
      toast(saved.watchDestinations ? 'Destinations are checked daily' : 'The daily check is off')
      await client.invalidateQueries({ queryKey: [api.workspaceId, 'destinations'] })
    },
    onError() {},
  })
}

/** In place of the list while nothing is checked. */
export function NotWatched() {
  const { role } = useWorkspace()
  const save = useWatchMutation()
  return (
    <EmptyState
      icon={Unlink}
      title="Destinations aren’t watched"
      action={
        role === 'owner' && (
          <Button variant="primary" busy={save.isPending} onClick={() => save.mutate(true)}>
            Check destinations daily
          </Button>
        )
      }
    >
      <p>
        Towpath can check each page that your links lead to once a day, and email you before visitors
        complain.
      </p>
      {role !== 'owner' && <p className="mt-2">Only owners can change that.</p>}
      {save.error && <FormError>{save.error.message}</FormError>}
    </EmptyState>
  )
}

/** While destinations are checked. */
export function WatchSetting() {
  const { role } = useWorkspace()
  const save = useWatchMutation()
  return (
    <div className={`mt-6 ${COLUMN}`}>
      <Card title="Daily check">
        {role === 'owner' ? (
          <div className="grid gap-3">
            {save.error && <FormError>{save.error.message}</FormError>}
            <Toggle
              label="Check destinations daily, and email me about broken ones"
              hint="All owners get one email when three checks over at least a day have failed. The check respects robots.txt. Emails need a mail server."
              checked={!save.isPending}
              // A disabled switch would lose the focus.
              onChange={() => save.isPending || save.mutate(false)}
            />
          </div>
        ) : (
          <p className="text-soft">
            Owners get an email about broken destinations. Only owners can change that.
          </p>
        )}
      </Card>
    </div>
  )
}
