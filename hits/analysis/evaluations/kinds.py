"""Which kinds of evaluations there are, and what each asks for. Nothing here computes."""

from collections.abc import Mapping

from hits.analysis.evaluations.contract import Kind, Setting, Upload

LAYOUT = '{"query id": [item ids …]}'
TO_TEXT = ("eccv_image_to_caption.json", "cxc_image_to_caption.json")
TO_IMAGE = ("eccv_caption_to_image.json", "cxc_caption_to_image.json")

RETRIEVAL = Kind(
    "retrieval",
    "Retrieval metrics",
    "R@K, R-Precision, mAP@R, PMRP, median rank, RSUM and COCO’s 1K folds of rankings, against "
    "any ground truth.",
    [
        Upload(
            "image_to_text",
            "Rankings, image to text",
            f"JSON {LAYOUT}, best first; or .npy of caption ids, a row for each image.",
            "ranking",
            required=False,
        ),
        Upload(
            "text_to_image",
            "Rankings, text to image",
            "The same with captions as queries.",
            "ranking",
            required=False,
        ),
        Upload(
            "scores",
            "Or scores",
            ".npy of numbers, images × captions: both directions are ranked by it.",
            "array",
            required=False,
        ),
        Upload(
            "ids",
            "Ids of rows and columns",
            'JSON {"images": [ids], "captions": [ids]}, for .npy files. Without it the rows of '
            "rankings follow the ground truth.",
            "json",
            required=False,
        ),
        Upload(
            "image_to_text_truth",
            "Ground truth, image to text",
            f"JSON {LAYOUT} as in eccv_caption.",
            "json",
            required=False,
            released=TO_TEXT,
        ),
        Upload(
            "text_to_image_truth",
            "Ground truth, text to image",
            "The same with captions as queries.",
            "json",
            required=False,
            released=TO_IMAGE,
        ),
        Upload(
            "originals",
            "Original pairs, for folds, PMRP and intervals",
            'JSON {"caption id": [its image]}, captions in their published order. Intervals then '
            "resample captions with their image.",
            "json",
            required=False,
        ),
        Upload(
            "classes",
            "Object classes, for PMRP",
            'JSON {"image id": [class ids]}. Pairs whose classes differ in none are plausible.',
            "json",
            required=False,
        ),
    ],
    [Setting("folds", "Folds of the original pairs", 5, "Five are COCO 1K.", low=1, high=100)],
)

COMPARISONS = Kind(
    "comparisons",
    "Bradley–Terry scores",
    "Strengths of systems from paired comparisons or from a win matrix, with intervals and the "
    "goodness of fit.",
    [
        Upload(
            "comparisons",
            "Comparisons",
            "Columns left, right and chosen (one of the two, or tie); worker and item where known, "
            "since intervals resample them. Or a win matrix: column preferred, and one a system.",
            "lines",
            released=("preference.csv", "win_matrix.csv"),
        )
    ],
    [Setting("side", "Fit how much the left side gains", False)],
)

AGREEMENT = Kind(
    "agreement",
    "Agreement",
    "Krippendorff’s alpha, kappas, percent and one against the rest, of judgments in long form.",
    [Upload("judgments", "Judgments", "Columns unit, worker and value, one line each.", "lines")],
    [
        Setting(
            "level",
            "Values are",
            "nominal",
            options={"nominal": "names", "ordinal": "in an order", "interval": "numbers"},
        ),
        Setting(
            "order",
            "Their order",
            "",
            "From least to most, with commas between; empty where values are numbers.",
        ),
    ],
)

CORRELATION = Kind(
    "correlation",
    "Rank correlations of metrics",
    "How alike metrics order models: a table as ECCV Caption’s Table 5.",
    [Upload("metrics", "Metrics", "A line a model: its name, then a column a metric.", "lines")],
    [
        Setting(
            "correlation",
            "Correlation",
            "tau-b",
            options={"tau-b": "Kendall’s tau-b", "spearman": "Spearman’s ρ"},
        )
    ],
)

BOOTSTRAP = Kind(
    "bootstrap",
    "Spearman bootstrap",
    "A model’s scores against people’s, as in Crisscrossed Captions: half of the queries and one "
    "rated pair of each, many times.",
    [
        Upload(
            "rated",
            "Rated pairs",
            "The CSV of CxC: two columns of ids, agg_score. The first column is the query.",
            "lines",
            released=("sts*.csv", "sis*.csv", "sits*.csv"),
        ),
        Upload(
            "scores",
            "The model’s scores",
            "CSV or JSONL with the same two columns of ids, and score.",
            "lines",
        ),
    ],
    [
        Setting("samples", "Samples", 1000, low=2, high=100_000),
        Setting("seed", "Seed", 0, low=0, high=2**31 - 1),
    ],
)

POSITIVES = Kind(
    "positives",
    "Precision and recall of positives",
    "A set of positive pairs against what people verified: ECCV Caption §3.3, Table 2.",
    [
        Upload("dataset", "The set of positives", f"JSON {LAYOUT}.", "json"),
        Upload(
            "people",
            "People’s positives",
            "The same layout.",
            "json",
            released=(*TO_TEXT, *TO_IMAGE),
        ),
        Upload(
            "verified",
            "All pairs that people saw",
            "The same layout. Pairs of the set that nobody saw do not count.",
            "json",
        ),
    ],
)

BISON = Kind(
    "bison",
    "BISON accuracy",
    "How often a model chose the true image; and how often an alteration changes its choice.",
    [
        Upload(
            "annotations",
            "Annotations",
            "JSON in the public BISON layout.",
            "json",
            released=("bison_annotations.json",),
        ),
        Upload(
            "predictions",
            "Predictions",
            'JSON [{"bison_id", "predicted_image_id"}, …]; or with "scores": {"image id": score}.',
            "json",
        ),
        Upload(
            "altered",
            "Predictions for altered queries",
            "The same with altered queries; examples that could not be altered may be missing.",
            "json",
            required=False,
        ),
    ],
)

FORCED_CHOICE = Kind(
    "forced-choice",
    "Right or wrong text",
    "How often a model scores the right text above the wrong one: MSCOCO-FG, Fig. 10.",
    [
        Upload(
            "scores",
            "Scores",
            "Columns right and wrong, one line an example; model where there are several.",
            "lines",
        )
    ],
)

TEXTS = Kind(
    "texts",
    "Texts before and after",
    "Nouns, adjectives and words of texts before and after a renovation: MSCOCO-FG, Table 3.",
    [
        Upload("before", "Texts before", 'JSON {"image": [texts]}.', "json"),
        Upload(
            "after", "Texts after", "The same images.", "json", required=False,
            released=("FG_ann.json",),
        ),
    ],
)  # fmt: skip

SURVEYS = Kind(
    "surveys",
    "Importance of objects",
    "Rank correlation, image by image, of people’s ratings with those of another survey or with "
    "scores.",
    [
        Upload(
            "survey",
            "A survey",
            'JSON [{"image_id", "description": "32112"}], or the released AMT layout.',
            "json",
            released=("AMT_responses.json",),
        ),
        Upload(
            "other",
            "Another survey",
            "The same objects in the same order.",
            "json",
            required=False,
            released=("AMT_responses.json",),
        ),
        Upload(
            "survey_keys",
            "Keys of the survey",
            "What its letters stand for, as AMT_keys.json has it: else objects are in one order.",
            "json",
            required=False,
            released=("AMT_keys.json",),
        ),
        Upload(
            "other_keys",
            "Keys of the other survey",
            "The same.",
            "json",
            required=False,
            released=("AMT_keys.json",),
        ),
        Upload(
            "scores",
            "Scores",
            'JSON {"scorer": {"image id": [a score an object]}}; mapped to the ratings at the '
            "survey’s frequencies.",
            "json",
            required=False,
        ),
    ],
)

RETEST = Kind(
    "retest",
    "Test and retest",
    "How far apart ratings of pairs are that were rated both ways: Crisscrossed Captions §2.",
    [
        Upload(
            "rated",
            "Rated pairs",
            "The CSV of CxC: two columns of ids, agg_score.",
            "lines",
            released=("sis*.csv",),
        )
    ],
)

DETECTION = Kind(
    "detection",
    "Detection metrics against people",
    "The six COCO metrics, mAR¹ at 0.5 and F1 of two detectors, and how often each prefers the "
    "one that people chose, as only more important objects count.",
    [
        Upload(
            "annotations",
            "True objects",
            'JSON [{"image_id", "category_id", "bbox", "importance"}, …].',
            "json",
        ),
        Upload("first", "Detections of system 1", "COCO results: bbox, score.", "json"),
        Upload("second", "Detections of system 2", "COCO results: bbox, score.", "json"),
        Upload(
            "choices",
            "What people chose",
            'JSON [{"image_id", "description": "1" or "2"}], an entry a person, or the AMT layout.',
            "json",
            required=False,
            released=("AMT_responses.json",),
        ),
        Upload(
            "keys",
            "Keys of the sides",
            "Which system was 1 and which 2, as AMT_keys.json has it: else they are the two above.",
            "json",
            required=False,
            released=("AMT_keys.json",),
        ),
    ],
    [
        Setting("first_name", "Name of system 1 in the keys", ""),
        Setting("second_name", "Name of system 2 in the keys", ""),
        Setting(
            "thresholds",
            "Importance more than",
            "0, 0.05, 0.1, 0.2",
            "Thresholds, with commas between.",
        ),
    ],
)

KINDS: Mapping[str, Kind] = {
    kind.slug: kind
    for kind in (
        RETRIEVAL,
        COMPARISONS,
        AGREEMENT,
        CORRELATION,
        BOOTSTRAP,
        RETEST,
        POSITIVES,
        BISON,
        FORCED_CHOICE,
        TEXTS,
        SURVEYS,
        DETECTION,
    )
}
