// The analytics settings of a workspace.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { workspacesQuery } from '../../api/session.ts'
import { updateWorkspace, workspaceQuery } from '../../api/workspace.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field, formatExample, Textarea } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { toast } from '../../ui/overlays/toast.tsx'

const SETTINGS = {
  keptParams: {
    label: 'Query parameters to keep',
    hint: 'Up to 5 names, one per line. Clicks keep these parameters of the short URL, so that you can filter and group by them.',
    example: 'ref',
  },
  internalNetworks: {
    label: 'Your networks',
    hint: 'Up to 50 addresses or ranges, one per line. Clicks from there don’t count, like those of people who are signed in here.',
    example: '203.0.113.0/24',
  },
  ignoredReferrers: {
    label: 'Referrers to ignore',
    hint: 'Up to 100 hosts, one per line. Clicks from these sites, and from a public list of referrer spam, don’t count.',
    example: 'spam.example',
  },
} as const

type SettingName = keyof typeof SETTINGS
type TrafficLists = Record<SettingName, string[]>

const toLines = (list: readonly string[]) => list.join('\n')
const fromLines = (text: string) => text.split(/[\s,]+/).filter(Boolean)

const NAMES = Object.keys(SETTINGS) as SettingName[]

export function TrafficSettings({ lists, mayChange }: { lists: TrafficLists; mayChange: boolean }) {
  const api = useApi()
  const client = useQueryClient()
  const stored = Object.fromEntries(NAMES.map((name) => [name, toLines(lists[name])]))
  const [texts, setTexts] = useState<Record<string, string>>(stored)
  const save = useMutation({
    mutationFn: () =>
      updateWorkspace(api, Object.fromEntries(NAMES.map((name) => [name, fromLines(texts[name] ?? '')]))),
    onSuccess(saved) {
      client.setQueryData(workspaceQuery(api).queryKey, saved)
      void client.invalidateQueries({ queryKey: workspacesQuery.queryKey })
      setTexts(Object.fromEntries(NAMES.map((name) => [name, toLines(saved[name])])))
      toast('Analytics settings saved')
    },
    onError() {},
  })
  const errors = toFieldErrors(save.error, NAMES)
  const findError = (name: SettingName) => {
    const entry = Object.entries(errors).find(([field]) => field === name || field.startsWith(`${name}.`))
    if (!entry) return undefined
    const value = fromLines(texts[name] ?? '')[Number(entry[0].split('.')[1])]
    return value === undefined ? entry[1] : `${value}: ${entry[1]}`
  }
  return (
    <Card title="Analytics">
      <Form className="grid gap-4" onSubmit={() => save.mutate()}>
        {NAMES.map((name) => (
          <ListField
            key={name}
            name={name}
            text={texts[name] ?? ''}
            error={findError(name)}
            mayChange={mayChange}
            change={(text) => setTexts({ ...texts, [name]: text })}
          />
        ))}
        {errors.general && (
          <p role="alert" className="text-sm text-danger">
            {errors.general}
          </p>
        )}
        {mayChange && (
          <div>
            <Button
              type="submit"
              variant="primary"
              busy={save.isPending}
              disabled={NAMES.every((name) => texts[name] === stored[name])}
            >
              Save
            </Button>
          </div>
        )}
      </Form>
    </Card>
  )
}

function ListField({
  name,
  text,
  error,
  mayChange,
  change,
}: {
  name: SettingName
  text: string
  error: string | undefined
  mayChange: boolean
  change: (text: string) => void
}) {
  const { label, hint, example } = SETTINGS[name]
  return (
    <Field label={label} hint={mayChange ? hint : 'Only owners can change this.'} error={error}>
      {(control) => (
        <Textarea
          {...control}
          rows={3}
          spellCheck={false}
          className="font-mono text-sm"
          placeholder={formatExample(example)}
          value={text}
          disabled={!mayChange}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  )
}
