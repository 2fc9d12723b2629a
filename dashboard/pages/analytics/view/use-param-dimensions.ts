// The query parameters that the workspace keeps of its clicks, as dimensions.

import { useWorkspace } from '../../../shell/use-workspace.ts'
import { type Dimension, toParamDimension } from './dimensions.ts'

export const useParamDimensions = (): Dimension[] => useWorkspace().keptParams.map(toParamDimension)
