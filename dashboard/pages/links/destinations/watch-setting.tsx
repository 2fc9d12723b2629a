// The setting that checks destinations daily and mails the owners.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { updateWorkspace, workspaceQuery } from '../../../api/workspace.ts'
import { useApi, useWorkspace } from '../../../shell/use-workspace.ts'
import { Card } from '../../../ui/card.tsx'
import { Toggle } from '../../../ui/forms/field.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { COLUMN } from '../../../ui/page.tsx'

export function WatchSetting() {
  const { data } = useQuery(workspaceQuery(useApi()))
  const { role } = useWorkspace()
  if (!data) return null
  return (
    <div className={`mt-6 ${COLUMN}`}>
      <Card title="Daily check">
        {role === 'owner' ? (
          <Setting on={data.watchDestinations} />
        ) : (
          <p className="text-soft">
            {data.watchDestinations
              ? 'Owners get an email about broken destinations.'
              : 'Destinations aren’t checked.'}{' '}
            Only owners can change that.
          </p>
        )}
      </Card>
    </div>
  )
}

function Setting({ on }: { on: boolean }) {
  const api = useApi()
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: (watchDestinations: boolean) => updateWorkspace(api, { watchDestinations }),
    async onSuccess(saved) {
      client.setQueryData(workspaceQuery(api).queryKey, saved)
      toast(saved.watchDestinations ? 'Destinations are checked daily' : 'The daily check is off')
      await client.invalidateQueries({ queryKey: [api.workspaceId, 'destinations'] })
    },
    onError() {},
  })
  return (
    <div className="grid gap-3">
      {save.error && <FormError>{save.error.message}</FormError>}
      <Toggle
        label="Check destinations daily, and email me about broken ones"
        hint="All owners get one email when three checks over at least a day have failed. The check respects robots.txt. Emails need a mail server."
        checked={on}
        disabled={save.isPending}
        onChange={({ target }) => save.mutate(target.checked)}
      />
    </div>
  )
}
