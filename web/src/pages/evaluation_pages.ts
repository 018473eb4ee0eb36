// One part of the code: pages of evaluations.

export { DiffPage } from "./evaluations/DiffPage";
export { EvaluationPage } from "./evaluations/EvaluationPage";
export { EvaluationsPage } from "./evaluations/EvaluationsPage";
