#include "attica/studies/sources.hpp"

#include <stdexcept>

namespace attica {
namespace {

/// Key, title, authors, year, arXiv identifier.
const std::vector<Source>& papers() {
  static const std::vector<Source> all = {
      {"rende2024mapping",
       "Mapping of attention mechanisms to a generalized Potts model",
       "R. Rende, F. Gerace, A. Laio, S. Goldt",
       2024,
       "2304.07235",
       ""},
      {"dobriban2018high",
       "High-dimensional asymptotics of prediction: ridge regression and classification",
       "E. Dobriban, S. Wager",
       2018,
       "1507.03003",
       ""},
      {"hastie2022surprises",
       "Surprises in high-dimensional ridgeless least squares interpolation",
       "T. Hastie, A. Montanari, S. Rosset, R. J. Tibshirani",
       2022,
       "1903.08560",
       ""},
      {"ali2019continuous",
       "A Continuous-Time View of Early Stopping for Least Squares Regression",
       "A. Ali, J. Z. Kolter, R. J. Tibshirani",
       2019,
       "1810.10082",
       ""},
      {"paquette2021sgd",
       "SGD in the large: average-case analysis, asymptotics, and stepsize criticality",
       "C. Paquette, K. Lee, F. Pedregosa, E. Paquette",
       2021,
       "2102.04396",
       ""},
      {"bordelon2022learning",
       "Learning curves for SGD on structured features",
       "B. Bordelon, C. Pehlevan",
       2022,
       "2106.02713",
       ""},
      {"ekeberg2013improved",
       "Improved contact prediction in proteins: using pseudolikelihoods to infer Potts models",
       "M. Ekeberg, C. Lövkvist, Y. Lan, M. Weigt, E. Aurell",
       2013,
       "1211.1281",
       ""},
      {"gelman2013bayesian",
       "Bayesian Data Analysis, third edition",
       "A. Gelman, J. B. Carlin, H. S. Stern, D. B. Dunson, A. Vehtari, D. B. Rubin",
       2013,
       "",
       ""},
      {"li2023topic",
       "How Do Transformers Learn Topic Structure: Towards a Mechanistic Understanding",
       "Y. Li, Y. Li, A. Risteski",
       2023,
       "2303.04245",
       ""},
      {"tian2023joma",
       "JoMA: Demystifying Multilayer Transformers via Joint Dynamics of MLP and Attention",
       "Y. Tian, Y. Wang, Z. Zhang, B. Chen, S. Du",
       2023,
       "2310.00535",
       ""},
      {"ren2024learning",
       "Learning and Transferring Sparse Contextual Bigrams with Linear Transformers",
       "Y. Ren, Z. Wang, J. D. Lee",
       2024,
       "2410.23438",
       ""},
      {"lu2025asymptotic",
       "Asymptotic theory of in-context learning by linear attention",
       "Y. M. Lu, M. I. Letey, J. A. Zavatone-Veth, A. Maiti, C. Pehlevan",
       2025,
       "2405.11751",
       ""},
      {"letey2025pretrain",
       "Pretrain-test task alignment governs generalization in in-context learning",
       "M. I. Letey, J. A. Zavatone-Veth, Y. M. Lu, C. Pehlevan",
       2025,
       "2509.26551",
       ""},
      {"zhang2025training",
       "Training Dynamics of In-Context Learning in Linear Attention",
       "Y. Zhang, A. K. Singh, P. E. Latham, A. Saxe",
       2025,
       "2501.16265",
       ""},
      {"geshkovski2023clusters",
       "The emergence of clusters in self-attention dynamics",
       "B. Geshkovski, C. Letrouit, Y. Polyanskiy, P. Rigollet",
       2023,
       "2305.05465",
       ""},
      {"geshkovski2025mathematical",
       "A mathematical perspective on transformers",
       "B. Geshkovski, C. Letrouit, Y. Polyanskiy, P. Rigollet",
       2025,
       "2312.10794",
       ""},
      {"geshkovski2024metastability",
       "Dynamic metastability in the self-attention model",
       "B. Geshkovski, H. Koubbi, Y. Polyanskiy, P. Rigollet",
       2024,
       "2410.06833",
       ""},
      {"rigollet2025mean",
       "The mean-field dynamics of transformers",
       "P. Rigollet",
       2025,
       "2512.01868",
       ""},
  };
  return all;
}

}  // namespace

Source cited(std::string_view key, std::string used) {
  for (Source paper : papers()) {
    if (paper.key != key) continue;
    paper.used = std::move(used);
    return paper;
  }
  throw std::logic_error("no paper '" + std::string(key) + "' in studies/sources.cpp");
}

}  // namespace attica
