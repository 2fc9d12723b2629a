// The setting of the email to the owners about frequent 404s.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { toFieldErrors } from '../../../api/client.ts'
import { updateWorkspace, workspaceQuery } from '../../../api/workspace.ts'
import { useApi, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { TextField, Toggle } from '../../../ui/forms/field.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { COLUMN } from '../../../ui/page.tsx'

const SUGGESTED = 50

export function ReportSetting() {
  const { data } = useQuery(workspaceQuery(useApi()))
  const { role } = useWorkspace()
  if (!data) return null
  return (
    <div className={`mt-6 ${COLUMN}`}>
      <Card title="Email">
        {role === 'owner' ? (
          <Setting above={data.missingReportAbove} />
        ) : (
          <p className="text-soft">{describe(data.missingReportAbove)} Only owners can change that.</p>
        )}
      </Card>
    </div>
  )
}

const describe = (above: number | null) =>
  above === null
    ? 'Owners get no email about 404s.'
    : `Owners get an email when one unknown link has more than ${formatNumber(above)} requests in 24 hours.`

function Setting({ above }: { above: number | null }) {
  const api = useApi()
  const client = useQueryClient()
  const [text, setText] = useState(String(above ?? SUGGESTED))
  const save = useMutation({
    mutationFn: (missingReportAbove: number | null) => updateWorkspace(api, { missingReportAbove }),
    onSuccess(saved) {
      client.setQueryData(workspaceQuery(api).queryKey, saved)
      toast(saved.missingReportAbove === null ? 'Email is off' : 'Email is on')
    },
    onError() {},
  })
  // A disabled switch would lose the focus.
  const change = (next: number | null) => save.isPending || save.mutate(next)
  const { missingReportAbove, general } = toFieldErrors(save.error, ['missingReportAbove'])
  return (
    <Form className="grid gap-4" onSubmit={() => change(Number(text))}>
      <Toggle
        label="Email me about frequent 404s"
        hint="All owners get it: once a day per link at most, and five emails a day. It needs a mail server."
        checked={(save.isPending ? save.variables : above) !== null}
        onChange={({ target }) => change(target.checked ? Number(text) : null)}
      />
      <div className="flex flex-wrap items-end gap-2">
        <TextField
          label="Requests in 24 hours, more than"
          className="w-full sm:w-64"
          type="number"
          inputMode="numeric"
          min={10}
          required
          value={text}
          error={missingReportAbove ?? general}
          onChange={({ target }) => setText(target.value)}
        />
        {above !== null && (
          <Button type="submit" busy={save.isPending} disabled={text === String(above)}>
            Save
          </Button>
        )}
      </div>
    </Form>
  )
}
