// The analytics of the whole workspace.

import { Page } from '../../ui/page.tsx'
import { AnalyticsPanel } from './analytics-panel.tsx'
import { ViewsMenu } from './saved/views-menu.tsx'

const NO_FIXED_FILTERS = {}

export const AnalyticsPage = () => (
  <Page title="Analytics" actions={<ViewsMenu />}>
    <AnalyticsPanel fixed={NO_FIXED_FILTERS} />
  </Page>
)
