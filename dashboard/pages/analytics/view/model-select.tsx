// The menu for the attribution model, which decides which touch of a lead gets the credit.

import { Select } from '../../../ui/forms/field.tsx'
import { ATTRIBUTION_MODEL_LABELS } from './dimensions.ts'
import type { AnalyticsView } from './use-analytics-view.ts'

export const ModelSelect = ({
  view: { model, set },
  className,
}: {
  view: AnalyticsView
  className: string
}) => (
  <Select
    aria-label="Attribution model"
    className={className}
    value={model}
    onChange={(event) => set({ model: event.target.value === 'last' ? undefined : event.target.value })}
    options={Object.entries(ATTRIBUTION_MODEL_LABELS)}
  />
)
