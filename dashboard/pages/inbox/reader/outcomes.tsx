// The outcomes of the open lead, and a form that sets one.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { toFieldErrors } from '../../../api/client.ts'
import {
  deleteOutcome,
  type OutcomeResource,
  type OutcomeStage,
  outcomesQuery,
  setOutcome,
} from '../../../api/inbox/outcomes.ts'
import type { Submission } from '../../../api/submissions.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { formatDay, formatMoney } from '../../../ui/format.ts'
import { SelectField, TextField } from '../../../ui/forms/field.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { STAGE_LABELS, STAGE_TONES } from '../state/outcome-stages.ts'
import { useOutcomeRefresh } from './use-outcome-refresh.ts'

const STAGES = Object.keys(STAGE_LABELS) as OutcomeStage[]

/** The currency that was set last stays for the next lead. */
const CURRENCY_KEY = 'towpath-currency'

export function Outcomes({ submission }: { submission: Submission }) {
  const api = useApi()
  const canEdit = useCanEdit()
  const { data } = useQuery(outcomesQuery(api, submission.id))
  const isLead =
    submission.status !== 'spam' && submission.status !== 'unconfirmed' && !submission.duplicateOf
  if (!isLead || (!canEdit && (data ?? []).length === 0)) return null
  return (
    <section aria-label="Outcome" className="grid gap-2">
      <h3 className="text-sm font-medium">Outcome</h3>
      {data && data.length > 0 && (
        <ul className="grid gap-1">
          {data.map((outcome) => (
            <OutcomeLine key={outcome.id} outcome={outcome} canEdit={canEdit} />
          ))}
        </ul>
      )}
      {canEdit && <OutcomeForm submissionId={submission.id} />}
    </section>
  )
}

function OutcomeLine({ outcome, canEdit }: { outcome: OutcomeResource; canEdit: boolean }) {
  const api = useApi()
  const refresh = useOutcomeRefresh(outcome.submissionId)
  const remove = useMutation({
    mutationFn: () => deleteOutcome(api, outcome.id),
    onSuccess: refresh,
    onError: (error) => toast(error.message),
  })
  const { stage, value, currency } = outcome
  return (
    <li className="flex min-h-8 items-center gap-2 text-sm">
      <Badge tone={STAGE_TONES[stage]}>{STAGE_LABELS[stage]}</Badge>
      {value !== null && currency !== null && (
        <span className="font-medium tabular-nums">{formatMoney(value, currency)}</span>
      )}
      <span className="flex-1 text-soft">{formatDay(outcome.at)}</span>
      {canEdit && (
        <Button
          size="small"
          icon={<Trash2 size={15} />}
          aria-label={`Take back “${STAGE_LABELS[stage]}”`}
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        />
      )}
    </li>
  )
}

function useOutcomeDraft(submissionId: number) {
  const api = useApi()
  const refresh = useOutcomeRefresh(submissionId)
  const [stage, setStage] = useState<OutcomeStage>('won')
  const [value, setValue] = useState('')
  const [currency, setCurrency] = useState(() => localStorage.getItem(CURRENCY_KEY) ?? 'EUR')
  const save = useMutation({
    mutationFn: () => {
      const amount = value.trim()
      const money =
        amount === '' ? { value: null, currency: null } : { value: amount, currency: currency.trim() }
      return setOutcome(api, { submissionId, stage, ...money })
    },
    onSuccess: async () => {
      if (value.trim() !== '') localStorage.setItem(CURRENCY_KEY, currency.trim().toUpperCase())
      setValue('')
      await refresh()
    },
  })
  return { stage, setStage, value, setValue, currency, setCurrency, save }
}

function OutcomeForm({ submissionId }: { submissionId: number }) {
  const { stage, setStage, value, setValue, currency, setCurrency, save } = useOutcomeDraft(submissionId)
  const errors = toFieldErrors(save.error, ['value', 'currency'])
  return (
    <Form className="grid gap-1.5" onSubmit={() => save.mutate()}>
      <div className="grid grid-cols-[1fr_1fr_5.5rem] items-start gap-2 sm:grid-cols-[9rem_9rem_5.5rem_auto]">
        <SelectField
          label="Stage"
          hideLabel
          value={stage}
          onChange={(event) => setStage(event.target.value as OutcomeStage)}
        >
          {STAGES.map((each) => (
            <option key={each} value={each}>
              {STAGE_LABELS[each]}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Value"
          hideLabel
          inputMode="decimal"
          placeholder="Value"
          autoComplete="off"
          value={value}
          maxLength={22}
          onChange={(event) => setValue(event.target.value)}
          error={errors.value}
        />
        <TextField
          label="Currency"
          hideLabel
          autoComplete="off"
          spellCheck={false}
          className="[&_input]:uppercase"
          value={currency}
          maxLength={3}
          onChange={(event) => setCurrency(event.target.value)}
          error={errors.currency}
        />
        <Button type="submit" disabled={save.isPending} className="justify-self-start max-sm:col-span-3">
          Set outcome
        </Button>
      </div>
      {errors.general && (
        <p role="alert" className="text-sm text-danger">
          {errors.general}
        </p>
      )}
    </Form>
  )
}
