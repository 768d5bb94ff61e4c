import { type Loaded, type LoadInput, loadSettings } from '../config/load.js';
import { windowProblems } from './window-check.js';

/** The settings of `serve`, `check` and `explain`: read, and checked against the configured context lengths. */
export function loadCommandSettings(input: Omit<LoadInput, 'checkBudget'>): Loaded {
  return loadSettings({ ...input, checkBudget: windowProblems });
}
